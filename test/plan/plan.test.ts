import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../src/json/values.ts";
import { matches, valueText, type Where } from "../../src/plan/where.ts";

describe("a value as text", () => {
	it.each<[JsonValue | undefined, string]>([
		[undefined, ""],
		["", ""],
		["a b", "a b"],
		['"', '"'],
		[null, "null"],
		[false, "false"],
		[0, "0"],
		[1.5, "1.5"],
		[["a", 1], '["a",1]'],
		[{ a: [true] }, '{"a":[true]}'],
	])("of %j is %j", (value, text) => {
		expect(valueText(value)).toBe(text);
	});
});

describe("--where", () => {
	const metadata: Metadata = new Map<string, JsonValue>([
		["team", "legal"],
		["year", 2024],
		["draft", false],
		["owner", null],
		["note", ""],
		["tags", ["a", 1, "b=c"]],
		["none", []],
	]);

	it.each<[readonly Where[], boolean]>([
		[[], true],
		[[["team", "legal"]], true],
		[[["team", "Legal"]], false],
		[[["year", "2024"]], true],
		[[["year", "2024.0"]], false],
		[[["draft", "false"]], true],
		[[["owner", "null"]], true],
		[[["owner", ""]], false],
		[[["note", ""]], true],
		[[["absent", ""]], false],
		[[["toString", ""]], false],
		[[["tags", "a"]], true],
		[[["tags", "1"]], true],
		[[["tags", "b=c"]], true],
		[[["tags", "c"]], false],
		[[["none", ""]], false],
		[
			[
				["team", "legal"],
				["year", "2024"],
			],
			true,
		],
		[
			[
				["team", "legal"],
				["year", "2025"],
			],
			false,
		],
	])("%j keeps a document: %s", (conditions, kept) => {
		expect(matches(metadata, conditions)).toBe(kept);
	});

	it("keeps no document whose metadata is not known, unless nothing is asked of it", () => {
		expect(matches(undefined, [["team", ""]])).toBe(false);
		expect(matches(undefined, [])).toBe(true);
	});
});
