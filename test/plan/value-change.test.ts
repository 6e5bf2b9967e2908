import { expect, it } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import { renamedKeys, ValueMap, withValue } from "../../src/plan/value-change.ts";

const mapOf = (pairs: readonly (readonly [JsonValue, JsonValue | undefined])[]): ValueMap => {
	const map = new ValueMap();
	for (const [at, [from, to]] of pairs.entries()) map.add(from, { to, line: at + 2 });
	return map;
};

it.each<[string, [JsonValue, JsonValue | undefined][], JsonValue, unknown]>([
	["a value becomes another", [["a", "b"]], "a", { to: "b", line: 2 }],
	["a value that the map does not have stays", [["a", "b"]], "c", undefined],
	["a number is not its digits", [["1", "one"]], 1, undefined],
	["a deleted value is gone", [["a", undefined]], "a", { to: undefined, line: 2 }],
	["null is a value", [[null, "none"]], null, { to: "none", line: 2 }],
	["members in another order are the same object", [[{ a: 1, b: 2 }, "x"]], { b: 2, a: 1 }, { to: "x", line: 2 }],
	["an item of a list becomes another", [["a", "b"]], ["x", "a"], { to: ["x", "b"], line: 2 }],
	["an item that is there already is not there twice", [["a", "b"]], ["b", "a"], { to: ["b"], line: 2 }],
	[
		"two items that become one are one",
		[
			["a", "c"],
			["b", "c"],
		],
		["a", "b"],
		{ to: ["c"], line: 2 },
	],
	[
		"items that are there twice and stay are still there twice",
		[["a", "b"]],
		["x", "x", "a"],
		{ to: ["x", "x", "b"], line: 2 },
	],
	[
		"two items change places",
		[
			["a", "b"],
			["b", "a"],
		],
		["a", "b"],
		{ to: ["b", "a"], line: 2 },
	],
	["a list takes the place of its item", [["a, b", ["a", "b"]]], ["x", "a, b"], { to: ["x", "a", "b"], line: 2 }],
	["a deleted item leaves the others, and an empty list is one", [["a", undefined]], ["a"], { to: [], line: 2 }],
	[
		"a list that the map has is one value",
		[
			[["a"], "whole"],
			["a", "item"],
		],
		["a"],
		{ to: "whole", line: 2 },
	],
	["a list without such items stays", [["a", "b"]], ["x"], undefined],
])("%s", (_, pairs, value, expected) => {
	expect(mapOf(pairs).of(value)).toEqual(expected);
});

it("values that no document had are known, with their lines", () => {
	const map = mapOf([
		["a", "b"],
		["c", "d"],
	]);
	map.of("a");
	expect(map.notFound.map(({ from, line }) => [from, line])).toEqual([["c", 3]]);
});

it("a key keeps its place with another value, and goes without one", () => {
	const metadata = new Map<string, JsonValue>([
		["a", 1],
		["b", 2],
	]);
	expect([...withValue(metadata, "a", 3)]).toEqual([
		["a", 3],
		["b", 2],
	]);
	expect([...withValue(metadata, "a", undefined)]).toEqual([["b", 2]]);
	expect(metadata.get("a")).toBe(1);
});

it.each<[string, object, unknown]>([
	["a key gets its new name in its place", { a: 1, b: 2, c: 3 }, { metadata: { a: 1, x: 2, c: 3 } }],
	["a key that is there under both names with one value is there once", { x: [1], b: [1] }, { metadata: { x: [1] } }],
	["another value under the new name is not written over", { x: 1, b: 2 }, { taken: ["b", "x"] }],
	["other metadata stays", { a: 1 }, { metadata: { a: 1 } }],
])("%s", (_, given, expected) => {
	const renamed = renamedKeys(new Map(Object.entries(given)), new Map([["b", "x"]]));
	expect("metadata" in renamed ? { metadata: Object.fromEntries(renamed.metadata) } : renamed).toEqual(expected);
});
