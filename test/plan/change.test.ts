import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, type Metadata, metadataOf } from "../../src/json/values.ts";
import { changeOf, differenceOf, keepsValue, metadataToSend } from "../../src/plan/change.ts";
import { splitLists } from "../../src/rest/ragflow.ts";

type Change = ReturnType<typeof changeOf>;

const replace = changeOf("replace");
const merge = changeOf("merge");

/** What is sent for a row, as pairs in their order. */
function sent(change: Change, present: JsonObject, wanted: JsonObject): readonly (readonly [string, JsonValue])[] {
	return [...metadataToSend(change, metadataOf(present), metadataOf(wanted))];
}

describe("a replace run sends the row unchanged, whatever the document has", () => {
	it.each<[string, JsonObject]>([
		["a row without keys", {}],
		["values", { a: 1, b: null, c: "" }],
		["what a merge would take for a removal", { a: "!delete" }],
		["what a merge would take for a change of a list", { tags: ["+x", "-y"] }],
	])("%s", (_, row) => {
		expect(sent(replace, { a: 0, kept: "no", tags: ["y"] }, row)).toEqual(Object.entries(row));
	});
});

describe("a merge loses no key that a row does not name", () => {
	const held = { kept: "old", changed: "old" };
	it.each<[string, JsonObject, JsonObject]>([
		["a row without keys", {}, held],
		["a new value", { changed: "new" }, { kept: "old", changed: "new" }],
		["a new key, which comes last", { added: 1 }, { ...held, added: 1 }],
		["null and empty values, which are values", { kept: null, changed: "" }, { kept: null, changed: "" }],
		["an empty list, which is one", { changed: [] }, { kept: "old", changed: [] }],
		["an object, which replaces as a whole", { changed: { a: 1 } }, { kept: "old", changed: { a: 1 } }],
	])("%s", (_, row, expected) => {
		expect(sent(merge, held, row)).toEqual(Object.entries(expected));
	});

	it("treats no key as special", () => {
		const row: Metadata = new Map<string, JsonValue>([["__proto__", "data"]]);
		const present: Metadata = new Map<string, JsonValue>([["constructor", "kept"]]);
		expect([...metadataToSend(merge, present, row)]).toEqual([
			["constructor", "kept"],
			["__proto__", "data"],
		]);
		expect([...present]).toEqual([["constructor", "kept"]]);
	});
});

describe("the delete token removes a key, and nothing else", () => {
	it.each<[string, Change, JsonObject, JsonObject]>([
		["a key that is there", merge, { a: "!delete" }, { b: 2 }],
		["a key that is not there", merge, { c: "!delete" }, { a: 1, b: 2 }],
		["all of them", merge, { a: "!delete", b: "!delete" }, {}],
		["a text that only holds it", merge, { a: "!delete it" }, { a: "!delete it", b: 2 }],
		["a list that holds it", merge, { a: ["!delete"] }, { a: ["!delete"], b: 2 }],
		["another token", changeOf("merge", "-"), { a: "-" }, { b: 2 }],
		["the default where another was given", changeOf("merge", "-"), { a: "!delete" }, { a: "!delete", b: 2 }],
	])("%s", (_, change, row, expected) => {
		expect(sent(change, { a: 1, b: 2 }, row)).toEqual(Object.entries(expected));
	});
});

describe("a merge of the current metadata changes nothing, whatever its form", () => {
	it.each<[string, JsonValue]>([
		["a text like the token", "!delete"],
		["a list of what looks like steps", ["+x", "-y"]],
		["a list that would take its own item away", ["-x"]],
	])("%s", (_, value) => {
		expect(sent(merge, { a: value, b: 2 }, { a: value })).toEqual(Object.entries({ a: value, b: 2 }));
	});
});

describe("a list of +item and -item changes the current list, and loses no other item of it", () => {
	it.each<[string, JsonValue | undefined, JsonValue, JsonValue | undefined]>([
		["adds at the end", ["a"], ["+b"], ["a", "b"]],
		["adds what is there once only", ["a"], ["+b", "+b"], ["a", "b"]],
		["leaves what is there in its place", ["a", "b"], ["+a"], ["a", "b"]],
		["removes", ["a", "b"], ["-a"], ["b"]],
		["removes every such item", ["a", "b", "a"], ["-a"], ["b"]],
		["removes the last one", ["a"], ["-a"], []],
		["leaves alone what lacks the item", ["a"], ["-b"], ["a"]],
		["does both in their order", ["a"], ["-a", "+b"], ["b"]],
		["moves to the end", ["a", "b"], ["-a", "+a"], ["b", "a"]],
		["takes numbers by their text", [1, 2], ["-1", "+2", "+3"], [2, "3"]],
		["takes a plain value for a list of one", "a", ["+b"], ["a", "b"]],
		["takes a plain number for a list of one", 5, ["+b"], [5, "b"]],
		["leaves a plain value plain where nothing changes", "a", ["+a", "-b"], "a"],
		["removes a plain value", "a", ["-a"], []],
		["takes an absent value for an empty list", undefined, ["+a"], ["a"]],
		["makes no list of an absent value for nothing", undefined, ["-a"], undefined],
		["takes null for an empty list", null, ["+a"], ["a"]],
		["keeps a second sign as part of the item", [], ["+-a", "++b"], ["-a", "+b"]],
		["replaces where one item has no sign", ["a"], ["+b", "c"], ["+b", "c"]],
		["replaces where one item is no text", ["a"], ["+b", 1], ["+b", 1]],
		["replaces by an empty list", ["a"], [], []],
		["is no change where it is a text", ["a"], "+b", "+b"],
	])("%s", (_, present, steps, expected) => {
		const had = present === undefined ? {} : { tags: present };
		expect(sent(merge, had, { tags: steps })).toEqual(expected === undefined ? [] : [["tags", expected]]);
		// Doing it again changes nothing more, but for an order that is asked for: a row may be tried twice.
		const once = expected === undefined ? {} : { tags: expected };
		expect(sent(merge, once, { tags: steps })).toEqual(Object.entries(once));
	});
});

describe("the current values of other keys are part of what is sent", () => {
	it.each<[string, Change, JsonObject, boolean]>([
		["in a replace, where the row does not name it", replace, {}, false],
		["in a replace, where it is a list of signs", replace, { a: ["+x"] }, false],
		["in a merge, where the row does not name it", merge, { b: 1 }, true],
		["in a merge that gives it", merge, { a: null }, false],
		["in a merge that removes it", merge, { a: "!delete" }, false],
		["in a merge that gives a list", merge, { a: ["x"] }, false],
		["in a merge that adds an item to it", merge, { a: ["+x"] }, true],
		["in a merge that takes an item from it", merge, { a: ["-x"] }, true],
	])("%s", (_, change, row, isKept) => {
		expect(keepsValue(change, "a", metadataOf(row))).toBe(isKept);
		// What is told is what is done.
		const present: Metadata = new Map<string, JsonValue>([["a", ["present", "x"]]]);
		const text = JSON.stringify([...metadataToSend(change, present, metadataOf(row))]);
		expect(text.includes("present")).toBe(isKept);
	});
});

type Shown = { add?: JsonObject; change?: JsonObject; remove?: JsonObject };

function shown(present: JsonObject, sent: JsonObject, keeps = splitLists): Shown {
	const { add, change, remove } = differenceOf(metadataOf(present), metadataOf(sent), keeps);
	const parts = { add, change, remove };
	return Object.fromEntries(
		Object.entries(parts).flatMap(([name, keys]) => (keys.size === 0 ? [] : [[name, Object.fromEntries(keys)]])),
	);
}

describe("the change of a document is shown key by key, and nothing else is", () => {
	it.each<[string, JsonObject, JsonObject, Shown]>([
		["nothing", { a: 1, b: [1] }, { b: [1], a: 1 }, {}],
		["a key that is new", {}, { a: null }, { add: { a: null } }],
		["a key that goes", { a: null }, {}, { remove: { a: null } }],
		["a value that changes", { a: 1 }, { a: 2 }, { change: { a: { from: 1, to: 2 } } }],
		["a number that becomes a text", { a: 5 }, { a: "5" }, { change: { a: { from: 5, to: "5" } } }],
		["null that becomes a value", { a: null }, { a: "" }, { change: { a: { from: null, to: "" } } }],
		["items in another order", { a: [1, 2] }, { a: [2, 1] }, { change: { a: { from: [1, 2], to: [2, 1] } } }],
		["members in another order", { a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, {}],
		["a list that the service takes apart to what is there", { a: ["x", "y"] }, { a: ["x; y", "x"] }, {}],
		[
			"the value that would be sent, not what becomes of it",
			{ a: ["x"] },
			{ a: ["x; y"] },
			{ change: { a: { from: ["x"], to: ["x; y"] } } },
		],
		[
			"all of it at once",
			{ gone: 1, same: 1, other: 1 },
			{ same: 1, other: 2, fresh: 3 },
			{ add: { fresh: 3 }, change: { other: { from: 1, to: 2 } }, remove: { gone: 1 } },
		],
	])("%s", (_, present, sent, expected) => {
		expect(shown(present, sent)).toEqual(expected);
	});

	it("a list that would be split is a change if the service keeps lists unchanged", () => {
		expect(shown({ a: ["x", "y"] }, { a: ["x; y"] }, (metadata) => new Map(metadata))).toHaveProperty("change");
	});

	it("a number that came rounded is changed also by the number that it was rounded to", () => {
		const [present, sent] = [metadataOf({ a: 1e20, b: 1 }), metadataOf({ a: 1e20, b: 1 })];
		const { change } = differenceOf(present, sent, undefined, new Map([["a", "100000000000000000001"]]));
		expect([...change.keys()]).toEqual(["a"]);
	});
});
