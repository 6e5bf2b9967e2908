import { expect, test } from "vitest";
import { SeenValues } from "../../src/manifest/seen-values.ts";
import type { CellType } from "../../src/manifest/rows/typed.ts";

function seen(namesChanges = false): SeenValues {
	return new SeenValues({ set: new Map(), mergeOnly: namesChanges ? { token: "!delete", lists: true } : undefined });
}

function textsOf(type: CellType, cells: readonly string[], namesChanges = false): readonly string[] {
	const values = seen(namesChanges);
	for (const [index, cell] of cells.entries()) values.cells([{ cell: 0, key: "key", type }], [cell], index + 2);
	return values.notes;
}

test.each([
	[["1.000"], 'key: "1.000" on line 2 is read as 1; if it means 1000, write that'],
	[["7", "12.500", "-1.250"], 'key: "12.500" on line 3 is read as 12.5; if it means 12500, write that'],
])("numbers %j, which may have a point between thousands, are named", (cells, text) => {
	expect(textsOf("number", cells)).toEqual([text]);
});

test.each([[["1.000", "1.5"]], [["0.125"]], [["1.000", "1500"]], [["1000.125"]], [["1e3"]], [["1", "2"]]])(
	"numbers %j are clear: a warning about them would hide others",
	(cells) => {
		expect(textsOf("number", cells)).toEqual([]);
	},
);

test("a list that is divided by commas is named once: it would be one item", () => {
	expect(textsOf("list", ["a, b; c", "a", "b;c"])).toEqual([
		'key: "a, b; c" on line 2 is a list of one item; items are divided by |',
	]);
	expect(textsOf("list", ["a, b", "a", "b"])).toEqual([]);
	expect(textsOf("list", ["Smith, J.|Doe, J.", "Smith, J.", "Doe, J."])).toEqual([]);
});

test("half a change of a list is named only where the run stores it as it stands", () => {
	const text = 'key: "+a|b" on line 2 is stored as it stands; +item and -item change a list only with --mode merge';
	expect(textsOf("list", ["+a|b", "-y|z"], true)).toEqual([text]);
	expect(textsOf("list", ["+a|b"])).toEqual([]);
});

test("many keys give few notes: they would hide each other", () => {
	const values = seen();
	const columns = Array.from({ length: 50 }, (_, cell) => ({ cell, key: `key${cell}`, type: "list" as const }));
	values.cells(columns, Array<string>(50).fill("a, b"), 2);
	expect(values.notes).toHaveLength(5);
});
