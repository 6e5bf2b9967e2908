import { expect, test } from "vitest";
import { join } from "node:path";
import { readOptionsFile } from "../../src/settings/options-file.ts";
import { complaint, file } from "./helpers.ts";
import { folder } from "../support/service.ts";

/** The options of a file with that text, and its folder. */
async function read(
	text: string,
): Promise<{ lists: string; options: Promise<ReadonlyMap<string, readonly string[]>> }> {
	const lists = await folder();
	return { lists, options: readOptionsFile(await file(join(lists, "options.yaml"), text)) };
}

test.each<[string, unknown]>([
	["dataset: handbooks", { dataset: ["handbooks"] }],
	["map:\n  Titel: title\n  Jahr: year:number", { map: ["Titel=title", "Jahr=year:number"] }],
	["ignore: [A, B]", { ignore: ["A", "B"] }],
	["ignore: A", { ignore: ["A"] }],
	[
		"set:\n  a: x\n  year: 2024\n  year:number: 7\n  draft: true\n  topics: [x, y]",
		{ set: ["a=x", "year:number=2024", "year:number=7", "draft:boolean=true", 'topics:json=["x","y"]'] },
	],
	["types: {Budget: number}", { types: ["Budget=number"] }],
	["schema: rows.json", { schema: ["/lists/rows.json"] }],
	["schema: none", { schema: ["none"] }],
	["decimal_comma: true\nsheet: 2", { decimal_comma: ["true"], sheet: ["2"] }],
	["decimal_comma: false", { decimal_comma: [] }],
	["true: [ja, x]\nfalse: nein", { true: ["ja,x"], false: ["nein"] }],
	["", {}],
	["# nothing yet\n", {}],
])("%j", async (text, options) => {
	const found = await read(text);
	const shown = JSON.stringify(Object.fromEntries(await found.options)).replaceAll(found.lists, "/lists");
	expect(JSON.parse(shown)).toEqual(options);
});

test.each([
	["datset: x", "/lists/options.yaml:1:1: unknown member datset; did you mean dataset?"],
	["dataset: x\ndate-format: y", "/lists/options.yaml:2:1: unknown member date-format; did you mean date_format?"],
	["colour: red", "unknown member colour; it may be dataset, mode, schema"],
	["toString: x", "unknown member toString"],
	["__proto__: {mode: merge}", "unknown member __proto__"],
	["base_url: https://rag.example.com", "base_url: a file of options never names a server, a key or a command"],
	["api_key: x", "api_key: a file of options never names a server, a key or a command"],
	["api_key_command: x", "api_key_command: a file of options never names a server"],
	["dataset: [a]", "dataset must be a text"],
	["dataset:", "dataset must be a text"],
	["map: Titel", "map must be texts by their columns"],
	["map: {a: {b: c}}", "map must be texts by their columns"],
	["decimal_comma: ja", "decimal_comma must be true or false"],
	["set: {a: null}", "set must be values by their keys"],
	["- a", "the file of options must be a map of names"],
	["dataset: x\n1.0: y", "/lists/options.yaml:2:1: a name must be text"],
	["ignore: []", "ignore must be a list of texts"],
	["a: [", "/lists/options.yaml:1:5"],
	["dataset: a\ndataset: b", "/lists/options.yaml:2:1"],
	["dataset: &a x\nsheet: *a", "a value must be written out"],
])("%j is refused", async (text, why) => {
	const { lists, options } = await read(text);
	const found = await complaint(options);
	expect(found.exit).toBe(2);
	expect(found.text.replaceAll(lists, "/lists")).toContain(why);
	expect(found.text).toContain("nothing was sent");
});
