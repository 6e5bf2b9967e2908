import { expect, it } from "vitest";
import { isManifest } from "../../src/commands/docs/upload.ts";
import { collectPair, parseConcurrency, parseMaxErrors, parseTime } from "../../src/flags/values.ts";

it.each([
	[parseTime, "500ms", 500],
	[parseTime, "3", 3000],
	[parseTime, "1.5h", 5_400_000],
	[parseTime, "5m", 300_000],
	[parseConcurrency, "3", 3],
	[parseConcurrency, "auto", "auto"],
	[parseMaxErrors, "0.5%", { unit: "percent", value: 0.5 }],
	[parseMaxErrors, "3", { unit: "rows", value: 3 }],
	[collectPair, "C=d=e", [["C", "d=e"]]],
] as const)("%o reads %s", (parse, text, value) => {
	expect(parse(text)).toEqual(value);
});

it.each([
	[["-"], true],
	[["a.csv"], true],
	[["a.JSONL.gz"], true],
	[["a.ndjson"], true],
	[["a.tsv"], true],
	[["a.pdf"], false],
	[["a.csv", "b.csv"], false],
	[["csv"], false],
])("docs upload %j is a manifest: %s", (files, manifest) => {
	expect(isManifest(files, undefined)).toBe(manifest);
	expect(isManifest(files, "manifest")).toBe(true);
	expect(isManifest(files, "files")).toBe(false);
});
