import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { areDisjoint, parseShard, shardIndexOf, shardOf } from "../src/shard.ts";
import { range } from "./support/values.ts";

describe("--shard I/N", () => {
	it.each([
		["1/1", { index: 1, count: 1 }],
		["2/8", { index: 2, count: 8 }],
		["100000/100000", { index: 100_000, count: 100_000 }],
	])("reads %s", (text, shard) => {
		expect(parseShard(text)).toEqual(shard);
	});

	it.each(["", "2", "0/8", "9/8", "-1/8", "2/0", "1/100001", "02/8", "2/8/1", " 2/8", "1.5/2", "2of8", "a/b"])(
		"refuses %j, which would send other rows than the user means",
		(text) => {
			expect(parseShard(text)).toBeUndefined();
		},
	);
});

describe("the division of rows", () => {
	// By `printf %s KEY | sha256sum | cut -c1-12`: a change of these sends rows twice, or never, in a mixed fleet.
	it.each([
		["0a1b2c3d4e5f60718293a4b5c6d7e8f9", 1, 2, 44_129],
		["report.pdf", 4, 2, 31_244],
		["Prüfung.pdf", 1, 1, 91_617],
		["line 3", 5, 2, 35_349],
		["😀", 7, 2, 40_127],
	])("puts %s into the same parts in every release", (key, ofEight, ofThree, ofMost) => {
		expect([8, 3, 100_000].map((count) => shardIndexOf(key, count))).toEqual([ofEight, ofThree, ofMost]);
	});

	it("puts each document into exactly one part", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 100_000 }), (key, count) => {
				const index = shardIndexOf(key, count);
				expect(shardOf(index, count)).toEqual({ index, count });
				expect(shardIndexOf(key, count)).toBe(index);
			}),
		);
	});

	it("gives no part much more than its share, even of ids in sequence", () => {
		fc.assert(
			fc.property(fc.integer({ min: 2, max: 16 }), fc.stringMatching(/^[a-z0-9]{0,8}$/), (count, prefix) => {
				const rows = 400 * count;
				const sizes = new Map<number, number>();
				for (const n of range(rows)) {
					const index = shardIndexOf(`${prefix}${n}`, count);
					sizes.set(index, (sizes.get(index) ?? 0) + 1);
				}
				// Six standard deviations of a part that has 400 rows by chance, which one case in a billion passes.
				for (const size of sizes.values()) expect(Math.abs(size - 400)).toBeLessThan(6 * Math.sqrt(400));
				expect(sizes.size).toBe(count);
			}),
			{ numRuns: 30 },
		);
	});

	it("keeps only parts of one division apart", () => {
		const [one, two, half] = [shardOf(1, 8), shardOf(2, 8), shardOf(2, 2)];
		expect([areDisjoint(one, two), areDisjoint(one, one), areDisjoint(one, half)]).toEqual([true, false, false]);
		expect([areDisjoint(one, undefined), areDisjoint(undefined, undefined)]).toEqual([false, false]);
	});
});
