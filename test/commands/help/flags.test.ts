import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { checkCommand } from "../../../src/commands/manifest/check.ts";
import { applyCommand } from "../../../src/commands/docs/apply.ts";
import { listCommand } from "../../../src/commands/docs/list.ts";
import { planCommand } from "../../../src/commands/docs/plan.ts";
import { rmCommand } from "../../../src/commands/docs/rm.ts";
import { tagCommand } from "../../../src/commands/docs/tag.ts";
import { isManifest } from "../../../src/commands/docs/upload.ts";
import type { Declared } from "../../../src/flags/declare.ts";
import { doctorCommand } from "../../../src/commands/doctor.ts";
import { sandboxCommand } from "../../../src/commands/sandbox.ts";
import { createApp } from "../../../src/app.ts";
import { createIo } from "../../../src/io.ts";
import { input, Kept } from "../../io/terminal.ts";

const stdin = input("");
const io = createIo({ stdin, stdout: new Kept(), stderr: new Kept(), env: {} });
const app = createApp({
	io,
	env: {},
	home: undefined,
	stdin,
	signal: new AbortController().signal,
	processes: { pid: 1, isRunning: () => true },
});

/** What a command line gives its command; the error's text where it is refused. */
async function parsed({ declare }: Declared, line: string): Promise<object | string> {
	const parent = new Command("ragtag").exitOverride().configureOutput({ writeErr: () => undefined });
	const [word = "", ...words] = line.split(" ");
	const command = parent.command(word).action(() => undefined);
	declare(command, app);
	try {
		await parent.parseAsync([word, ...words], { from: "user" });
	} catch (error) {
		return String(error);
	}
	const values: readonly unknown[] = command.processedArgs;
	const named = Object.fromEntries(command.registeredArguments.map((each, at) => [each.name(), values[at]]));
	const options: object = command.opts();
	return { ...options, ...named };
}

const defaults = { mode: "replace", empty: "skip", onDuplicate: "error", concurrency: "auto", chunk: 100, attempts: 6 };

describe("a flag that has units, repeats or defaults reaches its command with its meaning", () => {
	it.each<[string, Declared, object]>([
		["tag m.csv", tagCommand, { manifest: "m.csv", ...defaults, progress: "auto" }],
		[
			"tag m --timeout 500ms --max-wait 3 --max-duration 1.5h --max-outage 5m --max-errors 0.5% --map C=d=e --map A=b",
			tagCommand,
			{
				timeout: 500,
				maxWait: 3000,
				maxDuration: 5_400_000,
				maxOutage: 300_000,
				maxErrors: { unit: "percent", value: 0.5 },
				map: [
					["C", "d=e"],
					["A", "b"],
				],
			},
		],
		[
			"tag m --shard 2/8 --where a=b --rate 5 --concurrency 3 --timeout 2s --max-errors 3 --ignore A --set a=1 --true ja,x --no-undo",
			tagCommand,
			{
				shard: { index: 2, count: 8 },
				where: [["a", "b"]],
				rate: 5,
				concurrency: 3,
				timeout: 2000,
				maxErrors: { unit: "rows", value: 3 },
				ignore: ["A"],
				set: ["a=1"],
				true: ["ja", "x"],
				undo: false,
			},
		],
		["rm --id a b --id c --yes -d D", rmCommand, { id: ["a", "b", "c"], yes: true, dataset: "D" }],
		[
			"sandbox --port 0 --documents 10 --latency 5",
			sandboxCommand,
			{ port: 0, documents: 10, latency: 5, update: "replace", flavour: "documented" },
		],
		[
			"sandbox --flavour ragflow-0.24 --upgrade ragflow-0.26:100 --ties stable --member-key key",
			sandboxCommand,
			{ flavour: "ragflow-0.24", upgrade: { to: "ragflow-0.26", after: 100 }, ties: "stable", memberKey: "key" },
		],
	])("%s", async (line, declare, options) => {
		expect(await parsed(declare, line)).toMatchObject(options);
	});
});

describe("a meaningless value is refused, not replaced by another", () => {
	it.each<[string, Declared]>([
		["tag m n", tagCommand],
		["plan m", planCommand],
		["plan m --out p --only-changed", planCommand],
		["plan m --out p --chunk 5", planCommand],
		["apply", applyCommand],
		["apply p --mode merge", applyCommand],
		["apply p --set a=1", applyCommand],
		["tag m --rate 0", tagCommand],
		["tag m --rate 1e3", tagCommand],
		["tag m --timeout 5 min", tagCommand],
		["tag m --timeout -1s", tagCommand],
		["tag m --attempts 0", tagCommand],
		["tag m --max-wait 0", tagCommand],
		["tag m --max-outage soon", tagCommand],
		["tag m --max-duration -1h", tagCommand],
		["tag m --chunk 1.5", tagCommand],
		["tag m --concurrency 0", tagCommand],
		["tag m --max-errors 0", tagCommand],
		["tag m --max-errors 101%", tagCommand],
		["tag m --map =b", tagCommand],
		["tag m --map title", tagCommand],
		["tag m --empty nothing", tagCommand],
		["tag m --api-key secret", tagCommand],
		["list -d D --format xml", listCommand],
		["sandbox --port 70000", sandboxCommand],
		["sandbox --flavour ragflow-0.22", sandboxCommand],
		["sandbox --flavour ragflow", sandboxCommand],
		["sandbox --upgrade ragflow-0.26", sandboxCommand],
		["sandbox --upgrade ragflow-0.26:0", sandboxCommand],
		["sandbox --upgrade ragflow-0.26:1:2", sandboxCommand],
		["sandbox --upgrade newest:10", sandboxCommand],
		["sandbox --ties loose", sandboxCommand],
		["sandbox --member-key= ", sandboxCommand],
		["doctor --api-key secret", doctorCommand],
		["check m --for list", checkCommand],
	])("%s", async (line, declare) => {
		expect(await parsed(declare, line)).toMatch(/^CommanderError/);
	});
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

it("a second --report is refused: its form would not be written, without a word", async () => {
	expect(await parsed(tagCommand, "tag a.csv --report r.html --report r.json")).toContain("It was given before");
	expect(await parsed(tagCommand, "tag a.csv --failed a.csv --failed b.csv")).not.toContain("It was given before");
});
