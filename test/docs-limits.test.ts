import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const ROOT = new URL("../", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, ROOT), "utf8");

const UNITS: ReadonlyMap<string, number> = new Map([
	["KiB", 1024],
	["MiB", 1024 ** 2],
	["GiB", 1024 ** 3],
	["s", 1_000],
	["min", 60_000],
]);

/** `1,048,576 characters`, `64 MiB`, `5 min`: bytes and milliseconds where the unit is one of those. */
function valueOf(text: string): number {
	const [, digits = "", unit = ""] = /^([\d,]+) ?(\w*)/.exec(text) ?? [];
	return Number(digits.replaceAll(",", "")) * (UNITS.get(unit) ?? 1);
}

/** The value of a constant, which is a product of numbers and of other constants of its file. */
function constantIn(source: string, name: string): number {
	const product = new RegExp(`\\bconst ${name} = ([\\w *]+);`).exec(source)?.[1];
	if (product === undefined) throw new Error(`there is no constant ${name}`);
	const value = product
		.split(" * ")
		.map((factor) => (/^\d/.test(factor) ? Number(factor.replaceAll("_", "")) : constantIn(source, factor)))
		.reduce((left, right) => left * right, 1);
	return name.endsWith("_SECONDS") ? value * 1_000 : value;
}

/** The cells of the tables of a page, without heads and rules. */
const rowsOf = (text: string): readonly (readonly string[])[] =>
	text
		.split("\n")
		.filter((line) => line.startsWith("| ") && !line.startsWith("| what |"))
		.map((line) => line.slice(2, -2).split(" | "));

it("docs/limits.md says the numbers of the code, and leaves out none of what limits a manifest", async () => {
	const page = rowsOf(await read("docs/limits.md"));
	const constants = rowsOf(await read("test/limits.md"));
	expect(constants.map(([what]) => what)).toEqual(page.map(([what]) => what));
	const told: string[] = [];
	for (const [index, [what, place = ""]] of constants.entries()) {
		const [, path = "", name = ""] = /^`([^`]+)` `(\w+)`$/.exec(place) ?? [];
		expect([what, valueOf(page[index]?.[1] ?? "")]).toEqual([what, constantIn(await read(path), name)]);
		told.push(`${path} ${name}`);
	}
	const limits = Array.from((await read("src/manifest/limits.ts")).matchAll(/const (MAX_\w+)/g), ([, name]) => name);
	expect(limits.length).toBeGreaterThan(10);
	for (const name of limits) expect(told).toContain(`src/manifest/limits.ts ${name}`);
});
