import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { Exit } from "../../src/errors.ts";
import { ragtag } from "../support/ragtag.ts";
import { schemaOf, type SchemaName } from "../support/schemas.ts";
import { at, items, parse } from "../support/values.ts";

/** The names that a release has promised. `RAGTAG_NAMES=write` adds those that are new; it never removes one. */
const FILE = new URL("names.json", import.meta.url);

const POLICY =
	"was promised to scripts, and is gone. docs/stability.md says how a name is deprecated: it stays for one minor release, with " +
	"a warning. Bring it back, or after that release remove it from test/contract/names.json by hand";

const SCHEMAS: readonly SchemaName[] = ["help", "list", "output", "plan", "progress"];

/** Commands, options with their choices, and arguments, as `docs tag --mode merge`. */
async function commandNames(): Promise<readonly string[]> {
	const { stdout } = await ragtag(["help", "--json"]);
	const commands = items(at(parse(stdout.trimEnd().split("\n").at(-1) ?? ""), "commands"));
	return commands.flatMap((command) => {
		const name = `command ragtag ${String(at(command, "command"))}`.trim();
		const options = items(at(command, "options")).flatMap((option) => {
			const flag = `${name} ${String(at(option, "flag"))}`;
			const [short, choices] = [at(option, "short"), at(option, "choices")];
			const forms = typeof short === "string" ? [`${name} ${short}`] : [];
			return [flag, ...forms, ...(Array.isArray(choices) ? choices.map((choice) => `${flag} ${String(choice)}`) : [])];
		});
		return [name, ...options];
	});
}

/** Members of a schema, as `member output summary.rows`, and whether they are always there. */
function membersOf(schema: unknown, path: string): readonly string[] {
	if (typeof schema !== "object" || schema === null) return [];
	if (Array.isArray(schema)) return schema.flatMap((one) => membersOf(one, path));
	return Object.entries(schema).flatMap(([word, value]: [string, unknown]) => {
		if (word === "required" && Array.isArray(value)) return value.map((name) => `${path}.${String(name)} always`);
		if (word !== "properties" && word !== "$defs") return membersOf(value, path);
		const inside = Object.entries(value ?? {}).flatMap(([name, below]: [string, unknown]) => {
			const own = word === "$defs" ? `${path} ${name}` : `${path}.${name}`;
			return [...(word === "$defs" ? [] : [own]), ...membersOf(below, own)];
		});
		return inside;
	});
}

async function present(): Promise<readonly string[]> {
	const codes = Object.values(Exit).map((code) => `exit code ${code}`);
	const members = SCHEMAS.flatMap((name) => membersOf(schemaOf(name), `member ${name}`));
	return [...new Set([...(await commandNames()), ...codes, ...members])].toSorted();
}

const promised = (await readFile(FILE, "utf8").then(JSON.parse, () => [])) as readonly string[];

describe("the names that scripts rely on", () => {
	it("are all there: a script that a release was made for would break", async () => {
		const names = new Set(await present());
		expect(promised.filter((name) => !names.has(name)).map((name) => `"${name}" ${POLICY}`)).toEqual([]);
		expect(promised.length).toBeGreaterThan(500);
		if (process.env["RAGTAG_NAMES"] === "write") {
			const all = [...new Set([...promised, ...names])].toSorted();
			await writeFile(FILE, `${JSON.stringify(all, null, "\t")}\n`);
		}
	});

	// A release promises what it has. Until then new names may still change.
	it.skipIf(process.env["RAGTAG_RELEASE"] === undefined)(
		"are all promised by a release (skipped without RAGTAG_RELEASE)",
		async () => {
			expect((await present()).filter((name) => !promised.includes(name))).toEqual([]);
		},
	);
});
