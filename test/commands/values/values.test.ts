import { expect, it } from "vitest";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { serve, type Service } from "../../support/service.ts";
import { parseLines } from "../../support/values.ts";

/** Four documents whose keys and values are written in several ways. */
async function tagged(): Promise<Service> {
	const service = await serve(4);
	const [first = "", second = "", third = ""] = await service.ids();
	await service.put(first, { category: "news", pages: 4, topics: ["a", "b", "a"] });
	await service.put(second, { category: "News", pages: "4", topics: ["a"] });
	await service.put(third, { Category: "news", category: "news", note: null });
	return service;
}

it("every key is counted with its types, and one that is like a commoner one is named", async () => {
	const service = await tagged();
	const { exit, stdout, stderr } = await ragtag(["values", "-d", service.dataset, "--json"], { env: envOf(service) });
	expect([exit, stderr]).toEqual([0, `4 documents of dataset ${service.dataset}\n`]);
	expect(parseLines(stdout)).toEqual([
		// Two types under one key are most likely a mistake.
		{ key: "pages", documents: 2, types: { number: 1, text: 1 }, like: [] },
		{ key: "category", documents: 3, types: { text: 3 }, like: [] },
		{ key: "topics", documents: 2, types: { list: 2 }, like: [] },
		{ key: "Category", documents: 1, types: { text: 1 }, like: ["category"] },
		{ key: "note", documents: 1, types: { null: 1 }, like: [] },
	]);
});

it("the values of a key are counted, items of lists once a document", async () => {
	const service = await tagged();
	const list = async (key: string): Promise<string> =>
		(await ragtag(["values", "-d", service.dataset, key], { env: envOf(service) })).stdout;
	expect(await list("category")).toBe("value\ttype\tdocuments\tlike\nnews\ttext\t2\t\nNews\ttext\t1\tnews\n");
	expect(await list("topics")).toBe("value\ttype\tdocuments\tlike\na\ttext in a list\t2\t\nb\ttext in a list\t1\t\n");
	// A number and the same digits as text are two values: a filter finds them in different ways.
	expect(await list("pages")).toBe("value\ttype\tdocuments\tlike\n4\tnumber\t1\t\n4\ttext\t1\t\n");
});

it("a key of several types is marked, and its coverage and blanks at the end of a value are shown", async () => {
	const service = await serve(3);
	const [first = "", second = ""] = await service.ids();
	await service.put(first, { unit: "Legal", pages: 4 });
	await service.put(second, { unit: "Legal ", pages: "4" });
	const list = async (...argv: string[]): Promise<[string, string]> => {
		const { stdout, stderr } = await ragtag(["values", "-d", service.dataset, ...argv], { env: envOf(service) });
		return [stdout, stderr];
	};
	expect((await list())[0]).toBe("key\tdocuments\ttypes\tlike\npages\t2\tmixed: number 1, text 1\t\nunit\t2\ttext\t\n");
	const [table] = await list("unit", "--format", "table");
	expect(table.split("\n").slice(1, 3)).toEqual(["Legal   text          1", "Legal␠  text          1  Legal"]);
	expect((await list("unit"))[0]).toContain("Legal \ttext");
	const [, notes] = await list("pages");
	expect(notes).toBe(
		`pages has values of several types: number 1, text 1\npages: 2 of 3 documents, 1 lacks it: ragtag docs list -d ${service.dataset} --missing pages\n`,
	);
});

it("a key that no document has is a mistake, and the one that was probably meant is named", async () => {
	const service = await tagged();
	const typed = async (key: string): Promise<[number, string]> => {
		const { exit, stderr } = await ragtag(["values", "-d", service.dataset, key], { env: envOf(service) });
		return [exit, stderr];
	};
	expect(await typed("categry")).toEqual([2, expect.stringMatching(/has the key categry\nDid you mean category\?\n$/)]);
	expect(await typed("zzz")).toEqual([2, expect.stringMatching(/The commonest keys: category, pages, topics/)]);
});

it("an empty dataset has no keys", async () => {
	const service = await serve(0);
	const env = envOf(service);
	const { exit, stdout } = await ragtag(["values", "-d", service.dataset, "--format", "json"], { env });
	expect([exit, JSON.parse(stdout)]).toEqual([0, []]);
});

it("a list without metadata has nothing to count, and does not say that there are no keys", async () => {
	const bare = { code: 0, data: { total: 1, docs: [{ id: "doc-0", name: "0.txt", dataset_id: "set" }] } };
	const service = await liar(1, ({ method, path }) =>
		method === "GET" && path.endsWith("/documents") ? bare : undefined,
	);
	const { exit, stdout, stderr } = await ragtag(["values", "-d", "set", "--json"], { env: envOf(service) });
	expect([exit, stdout, stderr]).toEqual([1, "", expect.stringContaining("shows no metadata")]);
});
