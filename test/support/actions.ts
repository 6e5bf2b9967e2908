import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { parse } from "yaml";
import { type Contexts, expand, holds } from "./expressions.ts";
import { COMMAND } from "./program.ts";
import { folder, withoutKey } from "./service.ts";

export type Step = {
	readonly id?: string;
	readonly if?: string;
	readonly shell?: string;
	readonly env?: Readonly<Record<string, string>>;
	readonly run?: string;
	readonly uses?: string;
	readonly with?: Readonly<Record<string, string>>;
};

export type Action = {
	readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
	readonly outputs: Readonly<Record<string, { readonly value: string }>>;
	readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

/** How steps ended, and what they left. */
export type StepsEnded = {
	/** exit code of the first step that failed, 0 for none */
	readonly exit: number;
	readonly stdout: string;
	readonly stderr: string;
	readonly outputs: Contexts;
	/** actions of others, which are not run: their names and what they are given */
	readonly used: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
};

type ActionEnded = StepsEnded & { readonly outputs: Readonly<Record<string, string>> };

const ROOT = new URL("../../", import.meta.url);

export const ACTION = parse(await readFile(new URL("action.yml", ROOT), "utf8")) as Action;

/** The folders and files of a runner, and an environment like that of a job: nothing of the tester's own. */
export class Runner {
	readonly workspace: string;
	readonly summary: string;
	readonly env: Record<string, string>;
	readonly #temp: string;
	readonly #bin: string;
	#scripts = 0;

	private constructor(world: string, bin: string) {
		this.workspace = join(world, "work");
		this.#temp = join(world, "temp");
		this.#bin = bin;
		this.summary = join(world, "summary.md");
		this.env = {
			PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
			HOME: join(world, "home"),
			CI: "true",
			GITHUB_ACTIONS: "true",
			GITHUB_WORKSPACE: this.workspace,
			GITHUB_STEP_SUMMARY: this.summary,
			RUNNER_TEMP: this.#temp,
		};
	}

	/** @param installed whether `ragtag` is on the PATH */
	static async make(installed = true): Promise<Runner> {
		const world = await folder();
		const bin = join(world, "bin");
		const runner = new Runner(world, bin);
		for (const path of [bin, runner.workspace, runner.#temp, join(world, "home")]) await mkdir(path);
		await writeFile(runner.summary, "");
		if (installed) await writeProgram(bin);
		return runner;
	}

	/** Puts a program on the PATH that runs this text of a shell. */
	async program(name: string, text: string): Promise<void> {
		const path = join(this.#bin, name);
		await writeFile(path, `#!/bin/sh\n${text}`);
		await chmod(path, 0o755);
	}

	/** Our action with these inputs, as GitHub runs a composite action. */
	async action(
		inputs: Readonly<Record<string, string>>,
		env: Readonly<Record<string, string>> = {},
	): Promise<ActionEnded> {
		for (const name of Object.keys(inputs)) if (ACTION.inputs[name] === undefined) throw new Error(`no input ${name}`);
		const given = Object.entries(ACTION.inputs).map(([name, { default: value, required }]) => {
			if (required === true && inputs[name] === undefined) throw new Error(`the input ${name} is missing`);
			return [name, inputs[name] ?? value ?? ""] as const;
		});
		const ended = await this.steps(ACTION.runs.steps, { inputs: Object.fromEntries(given), env });
		const values = Object.entries(ACTION.outputs).map(([name, { value }]) => [
			name,
			expand(value, { steps: ended.outputs }),
		]);
		return { ...ended, outputs: Object.fromEntries(values) as Record<string, string> };
	}

	/** Steps of a job or of an action, in order. */
	async steps(steps: readonly Step[], contexts: Contexts): Promise<StepsEnded> {
		const ended = { exit: 0, stdout: "", stderr: "", outputs: {} as Record<string, Contexts>, used: [] as Used[] };
		for (const step of steps) {
			const known = { runner: { temp: this.#temp }, ...contexts, steps: ended.outputs };
			if (!holds(step.if ?? "'true'", known, ended.exit !== 0)) continue;
			const given = (texts: Step["env"] = {}): Record<string, string> =>
				Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(String(text), known)]));
			const env = { ...(contexts["env"] as Record<string, string> | undefined), ...given(step.env) };
			const result = await this.#step(step, env, given(step.with));
			if (result === undefined) ended.used.push({ uses: step.uses ?? "", with: given(step.with) });
			else {
				if ("used" in result) ended.used.push(...result.used);
				ended.stdout += result.stdout;
				ended.stderr += result.stderr;
				if (step.id !== undefined) ended.outputs[step.id] = { outputs: result.outputs };
				if (ended.exit === 0) ended.exit = result.exit;
			}
		}
		return ended;
	}

	/** undefined for an action of others */
	async #step({ run, uses, shell }: Step, env: Record<string, string>, inputs: Record<string, string>) {
		if (run !== undefined) return this.script(run, { env, shell: shell ?? "default" });
		return uses?.startsWith("./") === true ? this.action(inputs, env) : undefined;
	}

	/** A script of a step, with the shell's options that GitHub gives. */
	async script(
		run: string,
		{ env = {}, shell = "default" }: { env?: Readonly<Record<string, string>>; shell?: string },
	) {
		const name = join(this.#temp, `step-${(this.#scripts += 1)}`);
		const [output, path] = [`${name}.output`, `${name}.path`];
		for (const file of [output, path]) await writeFile(file, "");
		await writeFile(`${name}.sh`, run);
		// GitHub's "Workflow syntax", jobs.<job_id>.steps[*].shell.
		const options = shell === "bash" ? ["--noprofile", "--norc", "-eo", "pipefail"] : ["-e"];
		const result = await execute("bash", [...options, `${name}.sh`], {
			cwd: this.workspace,
			env: { ...this.env, GITHUB_OUTPUT: output, GITHUB_PATH: path, ...env },
		});
		const added = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
		this.env["PATH"] = [...added.toReversed(), this.env["PATH"]].join(":");
		const outputs = (await readFile(output, "utf8")).split("\n").flatMap((line) => {
			const at = line.indexOf("=");
			return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
		});
		return { ...result, outputs: Object.fromEntries(outputs) as Record<string, string> };
	}
}

type Used = StepsEnded["used"][number];

/** `ragtag` as an executable in a folder. */
export async function writeProgram(bin: string): Promise<void> {
	const path = join(bin, "ragtag");
	await writeFile(path, `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(" ")} "$@"\n`);
	await chmod(path, 0o755);
}

/** A process in exactly this environment. No piece of the test's key may be printed. */
export function execute(
	command: string,
	args: readonly string[],
	options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ exit: number; stdout: string; stderr: string }> {
	return new Promise((resolve, reject) => {
		// 100 s: what takes longer hangs.
		execFile(command, args, { ...options, timeout: 100_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
			const code = error === null ? 0 : error.code;
			if (typeof code !== "number") return reject(error ?? new Error(`${command} has no exit code`));
			try {
				resolve({ exit: code, stdout: withoutKey(stdout), stderr: withoutKey(stderr) });
			} catch (leak) {
				reject(leak);
			}
		});
	});
}
