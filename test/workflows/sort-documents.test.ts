import { expect, it } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import type { Document } from "../../src/rest/types.ts";
import { firstOf, sortedDocuments, type SortOrder } from "../../src/workflows/lists/document-table.ts";

function document(id: string, value?: JsonValue, size?: number): Document {
	const metadata = new Map(value === undefined ? [] : [["key", value] as const]);
	return { id, datasetId: "d", isDatasetNamed: true, name: `${id}.txt`, size, createTime: undefined, metadata };
}

async function* listOf(documents: Iterable<Document>): AsyncGenerator<Document> {
	yield* documents;
}

async function sortedIds(documents: readonly Document[], order: SortOrder, limit?: number): Promise<string> {
	const ids: string[] = [];
	for await (const { id } of sortedDocuments(listOf(documents), order, limit)) ids.push(id);
	return ids.join(" ");
}

const ascending = { field: "key", descending: false };
const descending = { field: "key", descending: true };

it("numbers are compared by value and come before texts; documents without the key are last", async () => {
	const mixed = [document("none"), document("b", "b"), document("ten", 10), document("two", 2), document("a", "a")];
	expect(await sortedIds(mixed, ascending)).toBe("two ten a b none");
	expect(await sortedIds(mixed, descending)).toBe("b a ten two none");
});

it("equal values keep the order of the list in both directions", async () => {
	const equal = [document("first", 1), document("second", 1), document("third", 0)];
	expect(await sortedIds(equal, ascending)).toBe("third first second");
	expect(await sortedIds(equal, descending)).toBe("first second third");
});

it("a member is sorted by its value, and hides a metadata key of its name", async () => {
	const sizes = [document("large", "x", 1000), document("small", "x", 9), document("unknown", "x")];
	expect(await sortedIds(sizes, { field: "size", descending: false })).toBe("small large unknown");
});

it("a limit gives the same first documents of a long list", async () => {
	const many = Array.from({ length: 5_000 }, (_, number) => document(String(number), (number * 7919) % 5_000));
	const whole = await sortedIds(many, ascending);
	const some = await sortedIds(many, ascending, 3);
	expect(whole.startsWith(some.split(" ").slice(0, 3).join(" "))).toBe(true);
	expect(some.split(" ").length).toBeLessThan(2_000);
});

it("the first documents are given without a step beyond them", async () => {
	let steps = 0;
	const counted = async function* (): AsyncGenerator<Document> {
		for (;;) {
			steps += 1;
			yield document(String(steps));
		}
	};
	const ids: string[] = [];
	for await (const { id } of firstOf(counted(), 3)) ids.push(id);
	expect([ids, steps]).toEqual([["1", "2", "3"], 3]);
});
