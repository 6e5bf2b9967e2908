import { describe, expect, it } from "vitest";
import { type JsonObject, metadataOf } from "../../src/json/values.ts";
import { differenceOf } from "../../src/plan/diff.ts";
import { splitLists } from "../../src/rest/normalise.ts";

type Shown = { add?: JsonObject; change?: JsonObject; remove?: JsonObject };

function shown(present: JsonObject, sent: JsonObject, keeps = splitLists): Shown {
	const { add, change, remove } = differenceOf(metadataOf(present), metadataOf(sent), keeps);
	const parts = { add, change, remove };
	return Object.fromEntries(
		Object.entries(parts).flatMap(([name, keys]) => (keys.size === 0 ? [] : [[name, Object.fromEntries(keys)]])),
	);
}

describe("what a row would do to its document is shown key by key, and nothing that it would not do", () => {
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

	it("a list that would be taken apart is a change where the service keeps lists as they are", () => {
		expect(shown({ a: ["x", "y"] }, { a: ["x; y"] }, (metadata) => new Map(metadata))).toHaveProperty("change");
	});

	it("a number that came rounded is changed also by the number that it was rounded to", () => {
		const [present, sent] = [metadataOf({ a: 1e20, b: 1 }), metadataOf({ a: 1e20, b: 1 })];
		const { change } = differenceOf(present, sent, undefined, new Map([["a", "100000000000000000001"]]));
		expect([...change.keys()]).toEqual(["a"]);
	});
});
