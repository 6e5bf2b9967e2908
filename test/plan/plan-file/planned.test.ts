import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import { differenceOf } from "../../../src/plan/change.ts";
import {
	isAsPlanned,
	isKeptWhenForced,
	keysChangedSince,
	metadataHash,
	forcedMetadata,
} from "../../../src/plan/plan-file/planned.ts";
import { documented } from "../../../src/rest/flavours.ts";
import { splitLists } from "../../../src/rest/ragflow.ts";

type Object = Readonly<Record<string, JsonValue>>;
const of = (object: Object): Metadata => new Map(Object.entries(object));

/** A plan to make `sent` of what a document had. */
const planned = (had: Object, sent: Object): { metadata: Metadata; difference: ReturnType<typeof differenceOf> } => ({
	metadata: of(sent),
	difference: differenceOf(of(had), of(sent)),
});

describe("what is sent to a changed document with --force", () => {
	it.each<[string, Object, Object, Object, Object]>([
		["keeps a key that another client added", { a: 1 }, { a: 2 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
		[
			"keeps a key that another client changed and the plan does not touch",
			{ a: 1, b: 1 },
			{ a: 2, b: 1 },
			{ a: 1, b: 9 },
			{ a: 2, b: 9 },
		],
		["takes the planned value of a key that both changed", { a: 1 }, { a: 2 }, { a: 9 }, { a: 2 }],
		["does not bring back a key that another client removed", { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1 }, { a: 2 }],
		["adds a key where another client added it too", {}, { a: 1 }, { a: 5 }, { a: 1 }],
		["removes a key that the plan removes, whatever it is now", { a: 1, b: 1 }, { b: 1 }, { a: 7, b: 1 }, { b: 1 }],
		["needs no key to be there that it removes", { a: 1, b: 1 }, { b: 1 }, { b: 2 }, { b: 2 }],
	])("in a merge %s", (_, had, sent, now, merged) => {
		expect(forcedMetadata("merge", planned(had, sent), of(now))).toEqual(of(merged));
	});

	it("in a replace is the planned object, and nothing that another client wrote", () => {
		expect(forcedMetadata("replace", planned({ a: 1 }, { a: 2 }), of({ a: 1, b: 3 }))).toEqual(of({ a: 2 }));
	});
});

describe("a document that another client changed since", () => {
	it.each<[string, Object, Object, boolean, readonly string[]]>([
		["has what it had", { a: 1, b: 2 }, { b: 2, a: 1 }, true, []],
		["has another value", { a: 1, b: 2 }, { a: 1, b: 3 }, false, ["b"]],
		["has a key more", { a: 1 }, { a: 1, c: 3 }, false, ["c"]],
		["has a key less", { a: 1, b: 2 }, { b: 2 }, false, ["a"]],
		["has nothing any more", { a: 1, b: 2 }, {}, false, ["a", "b"]],
	])("%s", (_, had, now, same, keys) => {
		expect(isAsPlanned(metadataHash(of(had)), of(now), documented.normalise)).toBe(same);
		for (const sent of [{ a: 5, d: 4 }, {}, had]) {
			expect(keysChangedSince(planned(had, sent), of(now), documented.normalise)).toEqual(keys);
		}
	});

	it("is unchanged if the service now splits a list that it once stored whole", () => {
		const was = metadataHash(of({ tags: ["a", "b"] }));
		expect(isAsPlanned(was, of({ tags: ["a,b"] }), splitLists)).toBe(true);
		expect(isAsPlanned(was, of({ tags: ["a,b"] }), documented.normalise)).toBe(false);
	});

	it("has another number, even if both were rounded to the same", () => {
		const [had, now] = [new Map([["a", "12345678901234567890"]]), new Map([["a", "12345678901234567891"]])];
		const read = of({ a: 12345678901234567000 });
		expect(isAsPlanned(metadataHash(read, had), read, documented.normalise, had)).toBe(true);
		expect(isAsPlanned(metadataHash(read, had), read, documented.normalise, now)).toBe(false);
		expect(isAsPlanned(metadataHash(read, had), read, documented.normalise)).toBe(false);
		expect(isAsPlanned(metadataHash(read), read, documented.normalise, now)).toBe(false);
	});
});

it("a merge with --force keeps all keys that the plan does not change", () => {
	const plan = planned({ changed: 1, removed: 1, same: 1 }, { changed: 2, same: 1, added: 1 });
	for (const key of ["changed", "removed", "added"]) expect(isKeptWhenForced("merge", plan, key)).toBe(false);
	for (const key of ["same", "other"]) expect(isKeptWhenForced("merge", plan, key)).toBe(true);
	expect(isKeptWhenForced("replace", plan, "same")).toBe(false);
});
