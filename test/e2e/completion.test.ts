import { execFileSync, spawn } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMAND, environment } from "../support/program.ts";
import { folder } from "../support/service.ts";

/** Whether a program is on this machine. */
function isThere(name: string): boolean {
	try {
		execFileSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/** A folder with a program `ragtag` that prints its arguments, and answers completion as the real one. */
async function world(names = ""): Promise<{ readonly cwd: string; readonly env: Record<string, string> }> {
	const cwd = await folder();
	const bin = await folder();
	const path = join(bin, "ragtag");
	await writeFile(join(bin, "names"), names);
	const lines = [
		"#!/bin/sh",
		// Names of datasets, in place of those that the program would remember.
		`if [ "$1" = __complete ] && [ -s '${join(bin, "names")}' ]; then exec cat '${join(bin, "names")}'; fi`,
		`case $1 in __complete | completion) exec ${COMMAND.map((word) => `'${word}'`).join(" ")} "$@" ;; esac`,
		`printf 'ARGUMENTS'; printf '<%s>' "$@"; echo`,
	];
	await writeFile(path, `${lines.join("\n")}\n`);
	await chmod(path, 0o755);
	for (const name of ["my file.csv", "tags.csv"]) await writeFile(join(cwd, name), "document_id\n");
	// fish makes a folder of its own there, also where the path did not exist.
	const env = environment({ TERM: "xterm", XDG_CONFIG_HOME: await folder() });
	return { cwd, env: { ...env, PATH: `${bin}:${env["PATH"] ?? ""}` } };
}

/** What an interactive shell on a terminal printed while these keys were typed. */
async function typed(shell: string, keys: string, names?: string): Promise<string> {
	const { cwd, env } = await world(names);
	const child = spawn("script", ["-qec", shell, "/dev/null"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
	let out = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
	child.stdin.end(keys);
	await new Promise((resolve) => child.once("close", resolve));
	return out;
}

/** Lines that end in Tab where the shell completes; each is then run, and prints the arguments that it had. */
const LINES = ["ragtag docs ta\t--mod\tm\t", "ragtag docs tag my\t--schema=ta\t", "ragtag docs tag --mode=m\t"];
const RUN = [
	"ARGUMENTS<docs><tag><--mode><merge>",
	"ARGUMENTS<docs><tag><my file.csv><--schema=tags.csv>",
	"ARGUMENTS<docs><tag><--mode=merge>",
];

function argumentsOf(output: string): string[] {
	return [...output.matchAll(/ARGUMENTS(?:<[^>]*>)+/g)].map(([text]) => text);
}

const hasScript = isThere("script");

describe.skipIf(!hasScript || !isThere("bash"))("bash (skipped where it or script is not installed)", () => {
	it("completes commands, options, choices and files as they are typed", async () => {
		const keys = [
			"source <(ragtag completion bash)",
			...LINES,
			'ragtag docs tag "my\t',
			"ragtag docs \t\t",
			"exit",
			"",
		];
		const out = await typed("bash --norc --noprofile -i", keys.join("\n"));
		expect(argumentsOf(out)).toEqual([...RUN, "ARGUMENTS<docs><tag><my file.csv>", "ARGUMENTS<docs>"]);
		for (const word of ["apply", "download", "parse", "resolve", "upload"])
			expect(out).toMatch(new RegExp(`^(?:.* )?${word}\\b`, "m"));
	});
});

describe.skipIf(!hasScript || !isThere("bash"))("bash (skipped where it or script is not installed)", () => {
	it.each([
		["", String.raw`q";echo RAN$((1));#`],
		['"', "q$(echo RAN1 >&2)"],
		['"', "q`echo RAN1 >&2`"],
		['"', String.raw`q";echo RAN1;#`],
		['"', String.raw`q\";echo RAN1;#`],
		["'", "q';echo RAN1;#"],
		["'", "q!echo RAN1"],
	])("runs nothing of a dataset's name, typed after %j: %s", async (quote, name) => {
		const keys = ["source <(ragtag completion bash)", `ragtag docs list -d ${quote}q\t${quote}`, "exit", ""];
		const out = await typed("bash --norc --noprofile -i", keys.join("\n"), `${name}\tdataset\n:none\n`);
		expect(out).toContain("ARGUMENTS<docs><list><-d><q");
		expect(out).not.toMatch(/^RAN1/m);
	});

	it("offers a plain name with a blank inside quotes", async () => {
		const keys = ["source <(ragtag completion bash)", 'ragtag docs list -d "my\t', "exit", ""];
		const out = await typed("bash --norc --noprofile -i", keys.join("\n"), "my set\tdataset\n:none\n");
		expect(argumentsOf(out)).toEqual(["ARGUMENTS<docs><list><-d><my set>"]);
	});
});

describe.skipIf(!hasScript || !isThere("zsh"))("zsh (skipped where it or script is not installed)", () => {
	it("completes the same words, with the summary of each command", async () => {
		const load = "autoload -U compinit && compinit -u -D; source <(ragtag completion zsh)";
		const out = await typed("zsh -f -i", [load, ...LINES, "ragtag docs \t", "exit", ""].join("\n"));
		expect(argumentsOf(out)).toEqual([...RUN, "ARGUMENTS<docs>"]);
		expect(out).toContain("rm        -- remove documents");
	});
});

describe.skipIf(!isThere("fish"))("fish (skipped where it is not installed)", () => {
	it.each([
		["ragtag docs ta", "tag\twrite metadata to documents: from a manifest, or by a filter\n"],
		["ragtag docs tag --mode m", "merge\n"],
		["ragtag docs tag --mode=m", "--mode=merge\n"],
		["ragtag docs tag my", "my file.csv\n"],
		["ragtag docs tag --schema=ta", "--schema=tags.csv\n"],
		["ragtag docs rm --id a b --ye", "--yes\tremoves without asking\n"],
	])("offers the matching words for %s", async (line, offered) => {
		const { cwd, env } = await world();
		const script = 'ragtag completion fish | source; complete -C "$argv"';
		const out = execFileSync("fish", ["--no-config", "-c", script, line], { cwd, env, encoding: "utf8" });
		expect(out).toBe(offered);
	});
});
