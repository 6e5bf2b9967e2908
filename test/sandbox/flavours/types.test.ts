import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { type Place, releases, serve, stored, update } from "./support.ts";

/** The documents of a place, each as its first one. */
function each({ ids, ...place }: Place): Place[] {
	return ids.map((id) => ({ ...place, ids: [id] }));
}

/** Values of the key `k`: the first makes its type, the others are sent to another document one after another. */
const rows: readonly (readonly [type: string, first: string, fits: readonly string[], refused: readonly string[]])[] = [
	[
		"integer",
		"4",
		["7.5", '"7"', '"7.5"', '""', "[]", "[5,6]", "9223372036854775807", "1e18"],
		['"n/a"', "true", "1e21", "9223372036854775808", '"2024-05-01"', '" 7"', '[1,"x"]'],
	],
	["decimal", "4.5", ["7", '"7.5"', '""', '" 7"', "1e38"], ['"n/a"', "false", "1e39", '"1e39"']],
	["boolean", "true", ["false", '"true"', '"false"', '""'], ["1", "0", '"yes"', '"True"']],
	[
		"date",
		'"2024-05-01"',
		['"2024"', '"2024-05"', '"2024-05-01T10:00:00Z"', '"2024-02-29"', "7", '"1715000000000"', "1.5"],
		[
			'"n/a"',
			'""',
			"true",
			'"2024-02-30"',
			'"2023-02-29"',
			'"2024-13-01"',
			'"2024/05/01"',
			'"2024-05-01 10:00"',
			"1e21",
		],
	],
	["date with slashes", '"2024/05/01"', ['"2024/05/01 10:00:00"', "7"], ['"2024-05-01"', '"2024/02/30"']],
	["text", '"x"', ["1", "1e21", "true", '"2024-05-01"', '""', '["x",1]', "9223372036854775808"], []],
	["text", '"2024"', ['"x"'], []],
	["text", '"2024-02-30"', ['"x"'], []],
	["text", '"7"', ['"x"'], []],
	["integer", "[4,5]", ["7"], ['"x"', "[4,true]"]],
	["none", "[]", ['"x"'], []],
];

const engines = releases.filter((flavour) => flavour >= "ragflow-0.24");

describe.each(engines)("%s has one type for each key of metadata", (flavour) => {
	const left = flavour === "ragflow-0.25" ? '{"other":"x"}' : "{}";
	// v1.0 reports a success, though the metadata is gone; and it takes no boolean.
	const isAccepted = flavour === "ragflow-1.0";
	const taken = (value: string): boolean => !isAccepted || !/true|false/.test(value);
	const unfit = isAccepted
		? { code: 0, data: { id: expect.any(String) } }
		: { code: 102, message: "Failed to update metadata" };

	test.each(rows.filter(([, first]) => taken(first)))("%s, first %s", async (_, first, fits, refused) => {
		const [one, two] = each(await serve(flavour, ["a.txt", "b.txt"]));
		if (one === undefined || two === undefined) throw new Error("no documents");
		expect(await update(one, flavour, `{"k":${first}}`)).toMatchObject({ code: 0 });
		for (const value of fits.filter(taken)) {
			expect([value, await update(two, flavour, `{"k":${value}}`)]).toMatchObject([value, { code: 0 }]);
		}
		for (const value of refused.filter(taken)) {
			await update(two, flavour, '{"other":"x","k":[]}');
			const answer = await update(two, flavour, `{"k":${value}}`);
			expect([value, answer]).toMatchObject([value, { status: 200, ...unfit }]);
			expect(answer.text).not.toContain("meta_fields");
			expect([value, await stored(two)]).toEqual([value, left === "{}" ? left : '{"other":"x","k":[]}']);
		}
		expect(await stored(one)).toBe(`{"k":${first}}`);
	});

	test.each([
		'{"":1}',
		'{" ":1}',
		'{".":1}',
		'{".a":1}',
		'{"a. .b":1}',
		'{"k":[1,"x"]}',
		'{"k":[1,1.5]}',
		'{"k":1e39}',
	])("and refuses %s whatever it has", async (sent) => {
		const place = await serve(flavour);
		expect(await update(place, flavour, sent)).toMatchObject(unfit);
		expect(await stored(place)).toBe("{}");
	});

	test.each([
		['{"a":"text"}', '{"a.b":1}'],
		['{"a.b":1}', '{"a":"text"}'],
		['{"a.b":1}', '{"a.b":"x"}'],
		['{"a":1}', '{"a..":"x"}'],
	])("after %s, %s is refused: a dot in a key makes an object", async (first, second) => {
		const [one, two] = each(await serve(flavour, ["a.txt", "b.txt"]));
		if (one === undefined || two === undefined) throw new Error("no documents");
		expect((await update(one, flavour, first)).code).toBe(0);
		expect(await update(two, flavour, second)).toMatchObject(unfit);
		expect(await stored(two)).toBe("{}");
	});

	test("for all datasets, and a refused update adds no type", async () => {
		const place = await serve(flavour, ["a.txt", "b.txt"]);
		const [one, two] = each(place);
		const dataset = await by.createDataset(place.sandbox, "other");
		const ids = await by.upload(place.sandbox, dataset, "c.txt");
		if (one === undefined || two === undefined) throw new Error("no documents");
		await update(one, flavour, '{"k":1}');
		expect(await update({ ...place, dataset, ids }, flavour, '{"new":1,"k":"x"}')).toMatchObject(unfit);
		expect((await update(two, flavour, '{"new":"x"}')).code).toBe(0);
	});
});

test.each<Flavour>(["ragflow-0.18", "ragflow-0.21", "ragflow-0.23"])("%s has no types", async (flavour) => {
	const [one, two] = each(await serve(flavour, ["a.txt", "b.txt"]));
	if (one === undefined || two === undefined) throw new Error("no documents");
	await update(one, flavour, '{"k":1}');
	expect((await update(two, flavour, '{"k":"x","":1,"k.a":[1,"x"]}')).code).toBe(0);
});
