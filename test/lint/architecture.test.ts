import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { folderOfAll } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** File, what it imports, and a piece of the reason that must be given. */
const BREACHES: readonly (readonly [string, string, string])[] = [
	["bin/a.ts", 'import "../src/run/x.ts"', "bin builds App"],
	["src/cli.ts", 'import "./rest/x.ts"', "cli is the program tree"],
	["src/cli.ts", 'import "./workflows/report.ts"', "cli is the program tree"],
	["src/cli.ts", 'import { x } from "./app.ts"', "cli is the program tree"],
	["src/app.ts", 'import "./commands/x.ts"', "app joins the parts"],
	["src/app.ts", 'import "./sandbox/x.ts"', "app joins the parts"],
	["src/session.ts", 'import "./flags/x.ts"', "app joins the parts"],
	["src/rest/a.ts", 'import type { x } from "../session.ts"', "rest may import nothing"],
	["src/commands/docs/a.ts", 'import { x } from "../../session.ts"', "commands decide and print"],
	["src/io.ts", 'import "./settings.ts"', "io may import nothing"],
	["src/io/a.ts", 'import "../run/x.ts"', "io may import nothing"],
	["src/settings.ts", 'import "./io.ts"', "settings may import nothing"],
	["src/settings/a.ts", 'import "../rest/x.ts"', "settings may import nothing"],
	["src/commands/a.ts", 'import "../settings.ts"', "commands decide and print"],
	["src/commands/docs/a.ts", 'import { x } from "../../app.ts"', "commands decide and print"],
	["src/commands/docs/a.ts", 'import { x } from "../../rest/x.ts"', "commands decide and print"],
	["src/commands/docs/a.ts", 'import "../../sandbox/x.ts"', "commands decide and print"],
	["src/commands/docs/a.ts", 'void import("../../sandbox/x.ts")', "commands decide and print"],
	["src/workflows/run/a.ts", 'import "../../commands/x.ts"', "workflows are what verbs share"],
	["src/workflows/run/a.ts", 'import { x } from "../../rest/x.ts"', "workflows are what verbs share"],
	["src/flags/a.ts", 'import type { x } from "../workflows/x.ts"', "flags are options"],
	["src/run/a.ts", 'import "../workflows/x.ts"', "run decides"],
	["src/manifest/csv/a.ts", 'import "../../run/x.ts"', "manifest may import nothing"],
	["src/files/a.ts", 'import { x } from "../manifest/x.ts"', "files may import nothing"],
	["src/run/a.ts", 'import type { x } from "../files/x.ts"', "run decides"],
	["src/sandbox/a.ts", 'import { x } from "../files/x.ts"', "shares no code"],
	["src/workflows/a.ts", 'import "picomatch"', "picomatch in files"],
	["src/plan/a.ts", 'import { x } from "../rest/x.ts"', "plan is pure"],
	["src/plan/a.ts", 'import type { x } from "../run/x.ts"', "plan is pure"],
	["src/run/operations/a.ts", 'import { x } from "../../rest/api.ts"', "run decides"],
	["src/run/a.ts", 'import type { x } from "../report/x.ts"', "run decides"],
	["src/report/a.ts", 'import { x } from "../run/x.ts"', "report is pure"],
	["src/report/a.ts", 'export * from "../rest/x.ts"', "report is pure"],
	["src/rest/a.ts", 'import type { x } from "../run/x.ts"', "rest may import nothing"],
	["src/sandbox/a.ts", 'import type { x } from "../rest/types.ts"', "shares no code"],
	["src/sandbox/documented/a.ts", 'import { x } from "../../rest/types.ts"', "shares no code"],
	["src/sandbox/documented/a.ts", 'import type { x } from "../../json/values.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import { x } from "../errors.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import { x } from "../settings.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import type { x } from "../activity.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import { x } from "../body-forms.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import { x } from "../json/numbers.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import { x } from "../text/show.ts"', "shares no code"],
	["src/sandbox/a.ts", 'import "../manifest/x.ts"', "shares no code"],
	["src/run/a.ts", 'import "undici"', "undici in rest"],
	["src/commands/a.ts", 'import "chalk"', "chalk and ora in io"],
	["src/report/a.ts", 'import "ora"', "chalk and ora in io"],
	["src/run/a.ts", 'import "string-width"', "string-width in report and io"],
	["src/rest/a.ts", 'import "p-limit"', "bottleneck, p-limit and ioredis in run"],
	["src/manifest/a.ts", 'import "p-limit"', "bottleneck, p-limit and ioredis in run"],
	["src/workflows/a.ts", 'import "ioredis"', "bottleneck, p-limit and ioredis in run"],
	["src/rest/a.ts", 'import "libsql"', "libsql and busboy in sandbox"],
	["src/rest/a.ts", 'import "@fastify/busboy"', "libsql and busboy in sandbox"],
	["src/app.ts", 'import "commander"', "commander in cli, commands, flags and workflows"],
	["src/sandbox/a.ts", 'import "csv-parse/sync"', "csv-parse, yauzl and sax in manifest"],
	["src/io.ts", 'import "node:process"', "only bin touches process"],
	["src/rest/a.ts", "process.exit()", "only bin touches process"],
];

const ALLOWED: readonly (readonly [string, string])[] = [
	["bin/a.ts", 'import "../src/app.ts"'],
	["src/cli.ts", 'import "./commands/x.ts"; import "./workflows/outputs/x.ts"; import type { x } from "./app.ts"'],
	["src/app.ts", 'import "./io.ts"; import "./settings.ts"; import "./rest/x.ts"; import "./run/x.ts"'],
	["src/commands/docs/a.ts", 'import "../../run/x.ts"; import type { x } from "../../app.ts"; import "commander"'],
	["src/commands/sandbox.ts", 'void import("../sandbox/index.ts")'],
	["src/run/a.ts", 'import { x } from "../rest/errors.ts"; import type { y } from "../rest/types.ts"'],
	[
		"src/run/a.ts",
		'import "./operations/x.ts"; import "../plan/x.ts"; import "../text/show.ts"; import "../json/values.ts"',
	],
	["src/report/a.ts", 'import type { x } from "../run/x.ts"; import "../errors.ts"'],
	["src/plan/a.ts", 'import type { x } from "../rest/x.ts"; import type { y } from "../manifest/x.ts"'],
	["src/sandbox/documented/a.ts", 'import "../json-text.ts"; import "libsql"'],
	["src/rest/a.ts", 'import "undici/lib/dispatcher/pool.js"; import "../version.ts"'],
	["src/files/a.ts", 'import "picomatch"; import "../errors.ts"; import "../text/x.ts"'],
	["src/workflows/rows/a.ts", 'import { x } from "../../files/x.ts"'],
];

type Finding = { readonly code: string; readonly help?: string; readonly message: string; readonly filename: string };

/** The findings for each case: a tree of its own, so that no case can hide another. One run of the linter for all. */
let findings: readonly Finding[] = [];
const folder = folderOfAll();
const found = (name: string): readonly Finding[] =>
	findings.filter(
		({ filename, code }) => filename.startsWith(`${name}/`) && /restricted|cycle|max-lines|max-params/.test(code),
	);

beforeAll(async () => {
	const cases = [
		...BREACHES.map(([file, text], index) => [`breach${index}`, file, text] as const),
		...ALLOWED.map(([file, text], index) => [`allowed${index}`, file, text] as const),
		["circle", "src/run/a.ts", 'import { b } from "./b.ts"; export const a = b;'] as const,
		["circle", "src/run/b.ts", 'import { a } from "./a.ts"; export const b = a;'] as const,
		["long", "src/run/a.ts", "export {};\n".repeat(251)] as const,
		["wide", "src/run/a.ts", "export const f = (a, b, c, d, e) => [a, b, c, d, e];"] as const,
	];
	for (const [name, file, text] of cases) {
		const path = join(folder, name, file);
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, `${text}\n`);
		// Its patterns are relative to where it lies.
		await copyFile(join(ROOT, ".oxlintrc.json"), join(folder, name, ".oxlintrc.json"));
	}
	findings = await lint(folder);
});

describe("an import that would tie two stations together is refused with the reason", () => {
	it.each(BREACHES.map((breach, index) => [...breach, index] as const))("%s: %s", (_file, _text, why, index) => {
		const reasons = found(`breach${index}`).map(({ help, message }) => `${message} ${help ?? ""}`);
		expect(reasons.join("\n")).toContain(why);
	});
});

it.each(ALLOWED.map((allowed, index) => [...allowed, index] as const))("%s may %s", (_file, _text, index) => {
	expect(found(`allowed${index}`)).toEqual([]);
});

it("a circle of imports is found", () => {
	expect(found("circle").map(({ code }) => code)).toContain("import(no-cycle)");
});

it("a file that has grown to two things is found", () => {
	expect(found("long").map(({ code }) => code)).toContain("eslint(max-lines)");
});

it("a function with five parameters is found", () => {
	expect(found("wide").map(({ code }) => code)).toContain("eslint(max-params)");
});

it("every folder of src is a station with rules, or a leaf that all may import", async () => {
	const stations = [
		"app",
		"cli",
		"commands",
		"files",
		"flags",
		"io",
		"manifest",
		"plan",
		"report",
		"rest",
		"run",
		"sandbox",
	];
	const known = [...stations, "run-end", "session", "settings", "workflows"];
	const leaves = [
		"activity",
		"body-forms",
		"errors",
		"input-file",
		"modules.d",
		"user-id",
		"json",
		"outcomes",
		"policy",
		"rates",
		"shard",
		"text",
		"version",
		"write-whole",
	];
	const names = (await readdir(join(ROOT, "src"))).map((name) => name.replace(/\.ts$/, ""));
	expect(names.filter((name) => !known.includes(name) && !leaves.includes(name))).toEqual([]);
});

async function lint(cwd: string): Promise<readonly Finding[]> {
	const output = await new Promise<string>((resolve) => {
		const program = join(ROOT, "node_modules", "oxlint", "bin", "oxlint");
		// Exit code 1 is what findings give.
		execFile(process.execPath, [program, "--format", "json", "."], { cwd, maxBuffer: 1 << 26 }, (_error, stdout) =>
			resolve(stdout),
		);
	});
	return (JSON.parse(output) as { diagnostics: readonly Finding[] }).diagnostics;
}
