import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, type Metadata, metadataOf } from "../../src/json/values.ts";
import { blame, type BlamedWrite } from "../../src/plan/blame.ts";
import { splitLists } from "../../src/rest/ragflow.ts";

type Write = BlamedWrite<string>;

/** A write by one letter. A before-image that is not given is not known. */
function write(by: string, sent: JsonObject | undefined, before?: JsonObject, isCertain = true): Write {
	const known = before === undefined ? undefined : metadataOf(before);
	return { by, sent: sent === undefined ? undefined : metadataOf(sent), before: known, isCertain };
}

const doubtful = (by: string, sent: JsonObject | undefined, before?: JsonObject): Write =>
	write(by, sent, before, false);

/** `KEY=VALUE BY`; `BY?` where it is in doubt, `others<BY` where others did it before that write saw it. */
function told(writes: readonly Write[], keeps?: (sent: Metadata) => Metadata): string[] {
	return blame(writes, keeps).present.map(({ key = "removed", to, origin: { by, isRecorded, isCertain } }) => {
		return `${key}${to === undefined ? "" : `=${JSON.stringify(to)}`} ${isRecorded ? "" : "others<"}${by}${isCertain ? "" : "?"}`;
	});
}

describe("who set each current value", () => {
	it.each<[string, readonly Write[], readonly string[]]>([
		["the run that set it", [write("A", { a: 1 }, {})], ["a=1 A"]],
		["the last that changed it", [write("A", { a: 1 }, {}), write("B", { a: 2 }, { a: 1 })], ["a=2 B"]],
		[
			"not one that sent it again as it was",
			[write("A", { a: 1 }, {}), write("B", { a: 1, b: 2 }, { a: 1 })],
			["a=1 A", "b=2 B"],
		],
		["what was there before the first, others", [write("A", { a: 1, b: 2 }, { b: 2 })], ["a=1 A", "b=2 others<A"]],
		[
			"what was changed between two runs, others",
			[write("A", { a: 1, b: 1 }, {}), write("B", { a: 5, b: 1 }, { a: 5, b: 1 })],
			["a=5 others<B", "b=1 A"],
		],
		[
			"a value that others brought back, others and not the first",
			[write("A", { a: 1 }, {}), write("B", { a: 2 }, { a: 1 }), write("C", { a: 1, c: 1 }, { a: 1 })],
			["a=1 others<C", "c=1 C"],
		],
		["no key that a run left out", [write("A", { a: 1, b: 1 }, {}), write("B", { b: 1 }, { a: 1, b: 1 })], ["b=1 A"]],
		[
			"none where what was there is unknown, not what was sent",
			[write("A", { a: 1 }), write("B", { a: 1 })],
			["a=1 A"],
		],
		["that of its removal alone", [write("A", { a: 1 }, {}), write("B", undefined)], ["removed B"]],
		["in doubt, with what was sent", [doubtful("A", { a: 1 }, {})], ["a=1 A?"]],
		[
			"certain, once the next run saw it",
			[doubtful("A", { a: 1 }, {}), write("B", { a: 1, b: 1 }, { a: 1 })],
			["a=1 A", "b=1 B"],
		],
		[
			"the one before, where the next run saw that a write in doubt had not arrived",
			[write("A", { a: 1 }, {}), doubtful("B", { a: 2 }, { a: 1 }), write("C", { a: 1, c: 1 }, { a: 1 })],
			["a=1 A", "c=1 C"],
		],
		[
			"the one before, where a removal of the key in doubt had not arrived",
			[write("A", { a: 1 }, {}), doubtful("B", {}, { a: 1 }), write("C", { a: 1 }, { a: 1 })],
			["a=1 A"],
		],
		[
			"the one before two that did not arrive",
			[
				write("A", { a: 1 }, {}),
				doubtful("B", { a: 2 }, { a: 1 }),
				doubtful("C", { a: 3 }),
				write("D", { a: 1 }, { a: 1 }),
			],
			["a=1 A"],
		],
		["the sure one of two that sent the same", [doubtful("A", { a: 1 }), write("B", { a: 1 })], ["a=1 B"]],
	])("is %s", (_, writes, expected) => {
		expect(told(writes)).toEqual(expected);
	});

	it("is the same run if the service split a list", () => {
		const writes = [write("A", { l: ["x,y"] }, {}), write("B", { l: ["x,y"], b: 1 }, { l: ["x", "y"] })];
		expect(told(writes, splitLists)).toEqual(['l=["x,y"] A', "b=1 B"]);
		expect(told(writes)).toEqual(['l=["x,y"] B', "b=1 B"]);
	});

	it("names the run that may have removed the document, and forgets it if the document was written later", () => {
		const inDoubt = [write("A", { a: 1 }, {}), doubtful("B", undefined)];
		expect(told(inDoubt)).toEqual(["a=1 A", "removed B?"]);
		expect(told([...inDoubt, write("C", { a: 2 }, { a: 1 })])).toEqual(["a=2 C"]);
	});
});

const values = fc.constantFrom<JsonValue>(null, 0, 1, "x", ["x"], {});
const metadata = fc
	.dictionary(fc.constantFrom("a", "b", "c", "1", "__proto__"), values)
	.map((object) => metadataOf(object));
const writes = fc.array(
	fc.record({
		by: fc.string(),
		sent: metadata,
		before: fc.option(metadata, { nil: undefined }),
		isCertain: fc.boolean(),
	}),
	{ minLength: 1, maxLength: 8 },
);

it("the current values are exactly those that were sent last", () => {
	fc.assert(
		fc.property(writes, (all) => {
			const last = all.at(-1)?.sent ?? new Map<string, JsonValue>();
			const { present } = blame(all);
			expect(new Map(present.map(({ key, to }) => [key, to]))).toEqual(last);
		}),
	);
});

it("the events add up to the current values if every write is certain", () => {
	fc.assert(
		fc.property(writes, (all) => {
			const { present, events } = blame(all.map((each) => ({ ...each, isCertain: true })));
			const keys = new Map<string, JsonValue>();
			for (const { action, key = "", to = null } of events) {
				if (action === "remove document") keys.clear();
				else if (action === "remove") expect(keys.delete(key)).toBe(true);
				else {
					expect(keys.has(key)).toBe(action === "change");
					keys.set(key, to);
				}
			}
			expect(keys).toEqual(new Map(present.map(({ key, to }) => [key, to])));
		}),
	);
});
