import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { serve, stored, update } from "./support.ts";

const before = '{"kept":"yes"}';

describe("NaN and infinities, which scripts with pandas send for empty cells", () => {
	const odd = '{"a":NaN,"b":[1,-Infinity,"NaN"],"c":{"d":Infinity},"e":"NaN, \\"NaN\\""}';
	const flat = '{"a":NaN,"b":[-Infinity]}';

	test.each(["ragflow-0.18", "ragflow-0.21", "ragflow-0.23"] as const)(
		"%s stores them and lists them as bare words, so its lists are not JSON",
		async (flavour) => {
			const place = await serve(flavour, ["a.txt", "b.txt"], { control: true });
			const answer = await update(place, flavour, odd);
			expect(answer.text).toMatch(/^\{"code":0/);
			const { text } = await by.list(place.sandbox, place.dataset, { id: place.ids[0] ?? "" });
			expect(text).toContain(`"meta_fields":${odd},`);
			expect(() => JSON.parse(text) as unknown).toThrow();
			const entries = place.sandbox.control?.ledger().filter((entry) => "meta_sha256" in entry) ?? [];
			expect(entries).toHaveLength(1);
			expect(() => JSON.parse(JSON.stringify(entries)) as unknown).not.toThrow();
			expect((await update(place, flavour, "{}")).code).toBe(0);
			expect((await by.list(place.sandbox, place.dataset)).code).toBe(0);
		},
	);

	test.each<[Flavour, string]>([
		// It removes the present metadata before it fails to store the new ones.
		["ragflow-0.24", "{}"],
		["ragflow-0.25", before],
		["ragflow-0.26", "{}"],
		["ragflow-0.27", "{}"],
	])("%s can't store them, and has the metadata %s after the refusal", async (flavour, left) => {
		const place = await serve(flavour);
		await update(place, flavour, before);
		const answer = await update(place, flavour, flat);
		expect(answer).toMatchObject({ status: 200, code: 102, message: "Failed to update metadata" });
		expect(await stored(place)).toBe(left);
	});

	test.each(["nan", "Infinit", "+Infinity", "1NaN", "NaN1", "[NaN"])("no release accepts %s", async (word) => {
		const place = await serve("ragflow-0.21");
		await update(place, "ragflow-0.21", before);
		expect((await update(place, "ragflow-0.21", `{"a":${word}}`)).code).toBe(100);
		expect(await stored(place)).toBe(before);
	});
});

test("ragflow-0.24 merges updates, as v0.24.0 does", async () => {
	const flavour = "ragflow-0.24";
	const place = await serve(flavour, ["a.txt"]);
	await update(place, flavour, '{"a":1,"b":{"c":1,"d":[1]}}');
	await update(place, flavour, '{"b":{"d":[2]},"e":2}');
	expect(await stored(place)).toBe('{"a":1,"b":{"c":1,"d":[2]},"e":2}');
	// So no update clears the metadata.
	expect((await update(place, flavour, "{}")).code).toBe(0);
	expect(await stored(place)).toBe('{"a":1,"b":{"c":1,"d":[2]},"e":2}');
});
