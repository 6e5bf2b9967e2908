import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonValue, metadataText } from "../../src/json/values.ts";

const text = fc.oneof(
	fc.string({ unit: "binary", maxLength: 80 }),
	fc.string({ unit: "grapheme-ascii", maxLength: 80 }),
	fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 4 }),
	fc.constantFrom("author", '"', "\\", "\x1f", " ", "~", "\x7f", "__proto__", "10", ""),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
	text,
	fc.double(),
	fc.integer(),
	fc.constantFrom<JsonValue>(-0, 1e21, 1e-7, null, true, false, NaN, Infinity),
	fc.array(text, { maxLength: 3 }),
	fc.dictionary(text, text, { maxKeys: 3 }),
);

test("metadata is written member by member as JSON.stringify writes each, in the order of its keys", () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(text, value), { maxLength: 6 }), (members) => {
			const metadata = new Map(members);
			const expected = Array.from(metadata, ([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`);
			expect(metadataText(metadata)).toBe(`{${expected.join(",")}}`);
		}),
		{ numRuns: 5_000 },
	);
});
