import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import { differenceOf } from "../../../src/plan/change.ts";
import { type CheckedPlan, planCheck, PlanFault } from "../../../src/plan/plan-file/read.ts";
import { changeLine, PlanText } from "../../../src/plan/plan-file/encode.ts";
import type { PlanHeader, PlannedChange } from "../../../src/plan/plan-file/lines.ts";
import { metadataHash } from "../../../src/plan/plan-file/planned.ts";
import { parse } from "../../support/values.ts";

const HASH = createHash("sha256").update("").digest("hex");
const header: PlanHeader = {
	ragtag: "1.2.3",
	baseUrl: "http://127.0.0.1:9380/api/v1",
	mode: "merge",
	manifest: { name: 'a "b".csv', sha256: HASH, rows: 4 },
	created: "2026-11-21T17:00:00.000Z",
};

/** Keys that an object would reorder, swallow or inherit, and texts that look like the end of one. */
const key = fc.oneof(
	fc.string({ unit: "binary" }),
	fc.constantFrom("__proto__", "constructor", "10", "9", "", 'a"', "a\\", '\\"', '":{', "},", "\u2028", "\ud800"),
);

const value = fc.jsonValue().map((made) => parse(JSON.stringify(made)) as JsonValue);
const metadata: fc.Arbitrary<Metadata> = fc
	.array(fc.tuple(key, value), { maxLength: 6 })
	.map((pairs) => new Map(pairs));
const planned: fc.Arbitrary<PlannedChange> = fc
	.record({
		line: fc.nat(),
		id: fc.string(),
		present: metadata,
		sent: metadata,
		removes: fc.boolean(),
		isSure: fc.boolean(),
	})
	.map(({ line, id, present, sent, removes, isSure }) => {
		const head = { line, datasetId: "set", documentId: id, was: metadataHash(present) };
		if (removes) return { ...head, action: "remove" };
		const orWas = isSure ? {} : { orWas: [metadataHash(sent), HASH] };
		return { ...head, ...orWas, action: "update", metadata: sent, difference: differenceOf(present, sent) };
	});

function textOf(changes: readonly PlannedChange[], counts = { unchanged: 1, failed: 1 }): string {
	const text = new PlanText();
	return text.header(header) + changes.map((change) => text.change(change)).join("") + text.footer(counts);
}

const BOTH: readonly PlannedChange["action"][] = ["update", "remove"];

/** Reads a whole plan. @throws PlanFault */
function read(bytes: Buffer, actions = BOTH): CheckedPlan & { readonly changes: readonly PlannedChange[] } {
	const check = planCheck(actions);
	const changes: PlannedChange[] = [];
	for (let from = 0; from < bytes.length;) {
		const end = bytes.indexOf(10, from);
		const change = check.line(bytes.subarray(from, end === -1 ? bytes.length : end), end !== -1);
		if (change !== undefined) changes.push(change);
		from = end === -1 ? bytes.length : end + 1;
	}
	return { ...check.end(), changes };
}

const pairs = (change: PlannedChange | undefined): unknown =>
	change?.action === "update"
		? [change.metadata, change.difference.add, change.difference.change, change.difference.remove].map((map) => [
				...map,
			])
		: change;

describe("a plan that is read", () => {
	it("equals what was written, whatever the names and order of its keys", () => {
		fc.assert(
			fc.property(fc.array(planned, { maxLength: 4 }), (changes) => {
				const back = read(Buffer.from(textOf(changes)));
				expect(back.header).toEqual(header);
				expect(back.counts).toEqual({ changes: changes.length, unchanged: 1, failed: 1 });
				expect(back.changes).toEqual(changes);
				expect(back.changes.map(pairs)).toEqual(changes.map(pairs));
			}),
		);
	});

	it("keeps __proto__, and the order of keys that are like numbers", () => {
		const sent: Metadata = new Map<string, JsonValue>([
			["b", 1],
			["10", 2],
			["9", { c: [":"] }],
			["__proto__", 3],
		]);
		const change = { line: 2, datasetId: "set", documentId: "doc", was: HASH, action: "update" } as const;
		const written = { ...change, metadata: sent, difference: differenceOf(new Map(), sent) };
		expect(changeLine(written)).toContain('"meta_fields":{"b":1,"10":2,"9":{"c":[":"]},"__proto__":3}');
		const [back] = read(Buffer.from(textOf([written]))).changes;
		expect(back?.action === "update" && [...back.metadata]).toEqual([...sent]);
	});
});

const small = Buffer.from(
	textOf([
		{
			line: 2,
			datasetId: "set",
			documentId: "one",
			was: HASH,
			action: "update",
			metadata: new Map<string, JsonValue>([
				["a", "ä"],
				["n", [1, true]],
			]),
			difference: {
				add: new Map([["a", "ä"]]),
				change: new Map([["n", { from: 1, to: [1, true] }]]),
				remove: new Map(),
			},
		},
		{ line: 3, datasetId: "set", documentId: "two", was: HASH, action: "remove" },
	]),
);

const fault = (bytes: Buffer): PlanFault => {
	try {
		read(bytes);
	} catch (error) {
		if (error instanceof PlanFault) return error;
		throw error;
	}
	throw new Error(`taken for a plan: ${bytes.toString()}`);
};

describe("a plan that differs from what was written is refused", () => {
	it("after an edit of any of its bytes", () => {
		for (let place = 0; place < small.length; place++) {
			for (const flip of [1, 0x20, 0x80]) {
				const edited = Buffer.from(small);
				edited[place] = (small[place] ?? 0) ^ flip;
				expect(fault(edited).message).not.toBe("");
			}
			fault(Buffer.concat([small.subarray(0, place), small.subarray(place + 1)]));
			fault(Buffer.concat([small.subarray(0, place), Buffer.from(" "), small.subarray(place)]));
		}
	});

	it("after a cut at any of its bytes, with the number of its last line", () => {
		for (let length = 0; length < small.length; length++) fault(small.subarray(0, length));
		const lines = small.toString().split("\n");
		expect(fault(Buffer.from(`${lines.slice(0, 2).join("\n")}\n`))).toMatchObject({
			line: 2,
			message: expect.stringContaining("was cut"),
		});
	});

	it("if a line is missing, repeated, moved or after the last", () => {
		const [first = "", one = "", two = "", last = ""] = small.toString().split("\n");
		for (const lines of [
			[first, two, last],
			[first, one, last],
			[first, one, one, two, last],
			[first, two, one, last],
		]) {
			expect(fault(Buffer.from(`${lines.join("\n")}\n`)).message).toContain("was edited");
		}
		expect(fault(Buffer.concat([small, Buffer.from(`${one}\n`)]))).toMatchObject({ line: 5 });
		expect(fault(Buffer.concat([small, small]))).toMatchObject({ line: 5 });
	});

	it.each([
		["another file", "document_id,author\n", "was not written by"],
		["an empty file", "", "is empty"],
		["a plan of a later version", '{"ragtag_plan":2,"x":1}\n', "format 2"],
		["a plan whose lines end as on Windows", small.toString().replaceAll("\n", "\r\n"), "was edited"],
		["a plan with a byte-order mark", `\ufeff${small.toString()}`, "was not written by"],
	])("%s", (_, text, why) => {
		expect(fault(Buffer.from(text)).message).toContain(why);
	});
});

it("a plan that removes is refused where only writes are expected", () => {
	expect(() => read(small, ["update"])).toThrow(expect.objectContaining({ line: 3 }));
	expect(read(small).changes).toHaveLength(2);
});

it.each([
	['"document_id"', '"document_id":"x","document_id"', 2],
	['"action"', '"more":1,"action"', 2],
	['"merge"', '"patch"', 1],
])("a line with a repeated or unknown member, or with another value, is refused: %s", (member, other, line) => {
	expect(fault(Buffer.from(small.toString().replace(member, other)))).toMatchObject({ line });
});

describe("the hash of metadata", () => {
	const hash = (text: string): string =>
		metadataHash(new Map(Object.entries(parse(text) as Record<string, JsonValue>)));

	it("does not depend on the order of keys, at any depth", () => {
		expect(hash('{"a":1,"b":{"c":[{"x":1,"y":2}],"d":null}}')).toBe(hash('{"b":{"d":null,"c":[{"y":2,"x":1}]},"a":1}'));
	});

	it.each([
		['{"a":1}', '{"a":"1"}'],
		['{"a":[1,2]}', '{"a":[2,1]}'],
		['{"a":null}', "{}"],
		['{"a":{"b":1}}', '{"a":{},"b":1}'],
		['{"__proto__":1}', "{}"],
	])("distinguishes %s from %s", (left, right) => {
		expect(hash(left)).not.toBe(hash(right));
	});
});
