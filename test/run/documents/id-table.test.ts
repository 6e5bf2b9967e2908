import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Document } from "../../../src/rest/types.ts";
import { allDocuments } from "../../../src/run/documents/list.ts";
import { SeenIds } from "../../../src/run/documents/id-table.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";

it("ids are new, of an earlier pass, or of this one, as sets of them would say", () => {
	// Ids of 32 hexadecimal digits are read as a number; some differ in their first or last digit alone, or in their case.
	const digits = fc.tuple(fc.nat(15), fc.constantFrom("0".repeat(30), "a1".repeat(15)), fc.nat(300));
	const hexadecimal = digits
		.map(([first, middle, last]) => `${first.toString(16)}${middle}${last.toString(16)}`)
		.map((id) => (id.endsWith("3") ? id.toUpperCase() : id));
	const step = fc.oneof(
		{ weight: 20, arbitrary: fc.oneof(fc.string(), fc.nat(2_000).map(String), hexadecimal) },
		fc.constant(undefined),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 1_500, size: "max" }), (steps) => {
			const ids = new SeenIds();
			const all = new Set<string>();
			let pass = new Set<string>();
			let passes = 0;
			for (const id of steps) {
				if (id === undefined) {
					if ((passes += 1) > 200) continue;
					ids.beginPass();
					pass = new Set();
					continue;
				}
				expect(ids.has(id)).toBe(all.has(id));
				expect(ids.add(id)).toBe(pass.has(id) ? "repeated" : all.has(id) ? "again" : "new");
				pass.add(id);
				all.add(id);
				expect(ids.size).toBe(all.size);
			}
		}),
		{ numRuns: 30 },
	);
});

it("a list of many documents keeps a few bytes an id while it is read", async () => {
	setFlagsFromString("--expose-gc");
	const held = (): number => {
		runInNewContext("gc()");
		const { heapUsed, external } = process.memoryUsage();
		return heapUsed + external;
	};
	// What other tests of this process left is collected in several turns: the least of some readings is the list's.
	const least = async (): Promise<number> => {
		let found = held();
		for (let reading = 0; reading < 5; reading++) {
			await new Promise((resolve) => setImmediate(resolve));
			found = Math.min(found, held());
		}
		return found;
	};
	// Many enough that what the test runner itself allocates meanwhile, a few MB, is little for each of them.
	const TOTAL = 1_000_000;
	const SIZE = 1_000;
	const api = fakeApi([], {
		listDocuments: async (_, { page }) => {
			const items = Array.from({ length: SIZE }, (_unused, n): Document =>
				documentOf(`8fe6${String((page - 1) * SIZE + n).padStart(28, "0")}`),
			);
			return { items: page * SIZE > TOTAL ? [] : items, total: TOTAL };
		},
	});
	const before = await least();
	let count = 0;
	let most = 0;
	for await (const _ of allDocuments({ api, request: direct, datasetId: "set" })) {
		count += 1;
		if (count === TOTAL) most = (await least()) - before;
	}
	expect(count).toBe(TOTAL);
	expect(most / TOTAL).toBeLessThan(45);
});
