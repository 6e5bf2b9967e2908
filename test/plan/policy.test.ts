import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, metadataOf } from "../../src/json/values.ts";
import { differenceOf } from "../../src/plan/change.ts";
import { isTooMany, needsPresent, policyText, type Violation, violationsOf } from "../../src/plan/policy.ts";
import type { MaxChanges, Policy } from "../../src/policy.ts";

const none: Policy = {
	protectedKeys: new Set(),
	allowed: new Map(),
	required: new Set(),
	maxChanges: undefined,
	noClearing: false,
};

const judged = (policy: Partial<Policy>, present: JsonObject, toSend: JsonObject): readonly Violation[] => {
	const [before, after] = [metadataOf(present), metadataOf(toSend)];
	const difference = differenceOf(before, after);
	return violationsOf({ ...none, ...policy }, { present: before, toSend: after, difference });
};

describe("a protected key is neither added, changed nor removed", () => {
	const policy = { protectedKeys: new Set(["id", "__proto__"]) };
	it.each<[string, JsonObject, JsonObject, string | undefined]>([
		["added", {}, { id: 1 }, "is protected, and would be added"],
		["changed", { id: 1 }, { id: "1" }, "is protected, and would be changed"],
		["removed", { id: 1, a: 1 }, { a: 1 }, "is protected, and would be removed"],
		["emptied", { id: 1 }, { id: null }, "is protected, and would be changed"],
		["left", { id: [1, { b: 2, c: 3 }] }, { id: [1, { c: 3, b: 2 }], a: 1 }, undefined],
		["not there", { a: 1 }, { a: 2 }, undefined],
	])("%s", (_, present, toSend, text) => {
		expect(judged(policy, present, toSend)).toEqual(text === undefined ? [] : [{ key: "id", rule: "protected", text }]);
	});

	it("whatever its name is", () => {
		const odd: JsonObject = Object.fromEntries([["__proto__", 1]]);
		expect(judged(policy, odd, {})).toMatchObject([{ key: "__proto__", rule: "protected" }]);
	});
});

describe("a key is given no value that is not allowed", () => {
	const policy = { allowed: new Map<string, readonly JsonValue[]>([["c", ["news", "law", 5, { a: 1 }]]]) };
	it.each<[string, JsonObject, JsonObject, string | undefined]>([
		["one of them", {}, { c: "law" }, undefined],
		["another", {}, { c: "blog" }, '"blog"'],
		["a changed value", { c: "law" }, { c: "blog" }, '"blog"'],
		["the same as text", {}, { c: "5" }, '"5"'],
		["the number itself", {}, { c: 5 }, undefined],
		["an object", {}, { c: { a: 1 } }, undefined],
		["a list of them", {}, { c: ["news", "law"] }, undefined],
		["an empty list", {}, { c: [] }, undefined],
		["a list with another", {}, { c: ["news", "blog", "x"] }, '"blog"'],
		["null", {}, { c: null }, "null"],
		["null over a value", { c: "law" }, { c: null }, "null"],
		["other case", {}, { c: "News" }, '"News"'],
		["no value", { c: "law" }, {}, undefined],
		["what is there already and not touched", { c: "blog" }, { c: "blog", d: 1 }, undefined],
	])("%s", (_, present, toSend, wrong) => {
		const text = `${wrong} is not allowed; allowed: "news", "law", 5, {"a":1}`;
		expect(judged(policy, present, toSend)).toEqual(wrong === undefined ? [] : [{ key: "c", rule: "allowed", text }]);
	});
});

describe("a required key is present afterwards", () => {
	const policy = { required: new Set(["author"]) };
	it.each<[string, JsonObject, JsonObject, boolean]>([
		["sent", {}, { author: "Ann" }, true],
		["there before, and kept", { author: "Ann" }, { author: "Ann", a: 1 }, true],
		["an empty text", {}, { author: "" }, true],
		["lost by a replacement", { author: "Ann" }, { a: 1 }, false],
		["never there", {}, { a: 1 }, false],
		["null", {}, { author: null }, false],
		["a member of every object by another name", {}, { toString: 1 }, false],
	])("%s", (_, present, toSend, isThere) => {
		const text = "is required, and the document would not have it";
		expect(judged(policy, present, toSend)).toEqual(isThere ? [] : [{ key: "author", rule: "required", text }]);
	});
});

describe("a document that has metadata keeps some", () => {
	it.each<[string, JsonObject, JsonObject, boolean]>([
		["cleared", { a: 1 }, {}, false],
		["had none", {}, {}, true],
		["another key", { a: 1 }, { b: null }, true],
	])("%s", (_, present, toSend, isFine) => {
		const text = "the document would be left without any metadata";
		expect(judged({ noClearing: true }, present, toSend)).toEqual(
			isFine ? [] : [{ key: null, rule: "clearing", text }],
		);
		expect(judged({}, present, toSend)).toEqual([]);
	});
});

it("all breaches of a document are reported at once", () => {
	const policy = {
		protectedKeys: new Set(["id"]),
		allowed: new Map([["c", ["x"]]]),
		required: new Set(["author", "c"]),
		noClearing: true,
	};
	expect(judged(policy, { id: 1 }, { c: "y" }).map(({ key, rule }) => [key, rule])).toEqual([
		["id", "protected"],
		["c", "allowed"],
		["author", "required"],
	]);
});

describe("a run changes no more documents than it may", () => {
	it.each<[number, MaxChanges, number, boolean]>([
		[5, { unit: "documents", value: 5 }, 10, false],
		[6, { unit: "documents", value: 5 }, 10, true],
		[1, { unit: "documents", value: 0 }, 10, true],
		[0, { unit: "documents", value: 0 }, 10, false],
		[5, { unit: "percent", value: 5 }, 100, false],
		[6, { unit: "percent", value: 5 }, 100, true],
		[1, { unit: "percent", value: 5 }, 10, true],
		[10, { unit: "percent", value: 100 }, 10, false],
		[0, { unit: "percent", value: 0 }, 0, false],
	])("%d of %j in %d rows", (changes, most, rows, expected) => {
		expect(isTooMany(changes, most, rows)).toBe(expected);
	});
});

it("a policy of values and required keys needs no read of documents, any other does", () => {
	expect(needsPresent({ ...none, allowed: new Map([["a", [1]]]), required: new Set(["a"]) })).toBe(false);
	expect(needsPresent({ ...none, protectedKeys: new Set(["a"]) })).toBe(true);
	expect(needsPresent({ ...none, noClearing: true })).toBe(true);
	expect(needsPresent({ ...none, maxChanges: { unit: "percent", value: 1 } })).toBe(true);
});

it("a policy is printed in one line, whatever its keys contain", () => {
	const policy = {
		protectedKeys: new Set(["id", "a\nb"]),
		allowed: new Map([["c", ["x"]]]),
		required: new Set(["author"]),
		maxChanges: { unit: "percent", value: 5 },
		noClearing: true,
	} as const;
	expect(policyText(policy)).toBe(
		String.raw`protected: id, a\x0ab; allowed values: c; required: author; max_changes: 5%; no_clearing`,
	);
	expect(policyText(none)).toBe("forbids nothing");
});
