import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type JsonValue, metadataText } from "../../../src/json/values.ts";
import { type Named, type RemoteDocument, StoredDocuments } from "../../../src/run/documents/stored-documents.ts";
import { folder } from "../../support/service.ts";
import { range } from "../../support/values.ts";

function documentOf(id: string, held: RemoteDocument): Named {
	return { id, size: undefined, ...held, name: held.name ?? "a name" };
}

describe("the file of documents finds by id", () => {
	const stored = async (): Promise<StoredDocuments> => {
		const documents = await StoredDocuments.create(await folder());
		onTestFinished(() => documents.close());
		return documents;
	};

	it("the exact digits of rounded numbers", async () => {
		const documents = await stored();
		const metadata = new Map<string, JsonValue>([
			["__proto__", 1e20],
			["b", 1],
		]);
		await documents.add(
			documentOf("rounded", { metadata, inexact: new Map([["__proto__", "100000000000000000001"]]) }),
		);
		await documents.add(documentOf("exact", { metadata }));
		await documents.end();
		expect(await documents.get("rounded")).toEqual(
			documentOf("rounded", { metadata, inexact: new Map([["__proto__", "100000000000000000001"]]) }),
		);
		expect(await documents.get("exact")).toEqual(documentOf("exact", { metadata }));
	});

	it("each of 30,000 documents, and no other", async () => {
		const documents = await stored();
		for (const n of range(30_000)) await documents.add(documentOf(`doc-${n}`, { metadata: new Map([["n", n]]) }));
		await documents.end();
		for (const n of [...range(200), ...range(200, 29_800)]) {
			expect(await documents.get(`doc-${n}`)).toMatchObject({ metadata: new Map([["n", n]]) });
		}
		expect(await documents.get("doc-30000")).toBeUndefined();
	});

	it.each<[string, readonly (readonly [string, JsonValue])[] | undefined]>([
		['"quoted" \\ and\nof two lines', [["a", "line\nbreak €"]]],
		["日本語", [["鍵", ["値", 1, null]]]],
		["__proto__", [["__proto__", { constructor: 1 }]]],
		["long", [["a", "é".repeat(5000)]]],
		["", []],
		["without", undefined],
	])("each value unchanged: %j", async (id, pairs) => {
		const documents = await stored();
		const metadata = pairs === undefined ? undefined : new Map(pairs);
		await documents.add(documentOf("other", { metadata: new Map() }));
		await documents.add(documentOf(id, { metadata }));
		await documents.end();
		const expected = documentOf(id, { metadata });
		expect(await documents.get(id)).toEqual(expected);
	});

	it("in every order, at once or one after another, also where they are long", async () => {
		const lengths = fc.oneof({ weight: 9, arbitrary: fc.nat(300) }, fc.nat(100_000), fc.constant(70_000));
		const asked = fc.array(fc.nat(90), { maxLength: 150 });
		const orders = fc.array(fc.record({ start: fc.nat(60), step: fc.constantFrom(1, -1, 7), asked }), { maxLength: 3 });
		await fc.assert(
			fc.asyncProperty(
				fc.array(lengths, { maxLength: 90 }),
				fc.constantFrom("x", "é", "永"),
				orders,
				async (all, letter, ways) => {
					const documents = await StoredDocuments.create(await folder());
					const texts = all.map((length, n) => JSON.stringify({ a: `${n}${letter.repeat(length)}` }));
					for (const [n, text] of texts.entries()) {
						const metadata = new Map(Object.entries(JSON.parse(text) as Record<string, string>));
						await documents.add(documentOf(`doc-${n}`, { name: `${n}`, metadata }));
					}
					await documents.end();
					const find = async (n: number): Promise<void> => {
						const { metadata } = (await documents.get(`doc-${n}`)) ?? {};
						expect(metadata && metadataText(metadata)).toBe(texts[n]);
					};
					for (const { start, step, asked: others } of ways) {
						for (let n = start; n >= 0 && n < texts.length; n += step) await find(n);
						await Promise.all(others.map(find));
					}
					const listed: string[] = [];
					for await (const { id, name } of documents.all()) listed.push(`${id} ${name}`);
					expect(listed).toEqual(texts.map((_, n) => `doc-${n} ${n}`));
					await documents.close();
				},
			),
			{ numRuns: 40 },
		);
	});

	it("every document of one name, in the order of the list, however far apart they are", async () => {
		const names = await StoredDocuments.create(await folder(), (name) => name.toLowerCase());
		onTestFinished(() => names.close());
		const ids = range(2_000).map((n) => `${n}`.padStart(32, "0"));
		for (const [n, id] of ids.entries()) {
			const name = n % 500 === 0 ? "Same" : `name ${n}`;
			await names.add({ id, name, size: n, metadata: new Map([["a", "x".repeat(90)]]) });
			if (n % 700 === 0) await names.add({ id: `${id}-too`, name: "sAME", size: undefined, metadata: undefined });
		}
		await names.end();
		const found = await names.named("same");
		const wanted = ["0", "0-too", "500", "700-too", "1000", "1400-too", "1500"];
		expect(found.map(({ id }) => id.replace(/^0+(?=\d)/, ""))).toEqual(wanted);
	});

	it("and is removed afterwards, as metadata may be confidential", async () => {
		const parent = await folder();
		const documents = await StoredDocuments.create(parent);
		await documents.add(documentOf("a", { metadata: new Map() }));
		await documents.end();
		await documents.close();
		expect(await readdir(parent)).toEqual([]);
	});

	it("a full disk is exit 7, not a fault of the program", async () => {
		await expect(StoredDocuments.create("/nonexistent/folder")).rejects.toMatchObject({ exit: 7 });
	});
});
