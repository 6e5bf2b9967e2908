import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { codeFolder, keepCode, readCode } from "./code-cache.ts";

/** The program as a function expression, with the parameters that Node gives to each CommonJS module. */
const FILE = fileURLToPath(new URL("../parts/program.js", import.meta.url));

/**
 * Runs the program with the code that V8 compiled in an earlier process. Compiling takes most of the time of a short command.
 * Each command has a file of its own, which holds the functions that the command called and no others.
 *
 * @param build name of the program's text: V8 itself compares only its length
 * @param command the words of the command that is called, as "docs tag"; empty where they are not known
 */
export function runProgram(build: string, command: string): void {
	const folder = codeFolder(process.env);
	// The tag differs for another V8, other flags of it, or another processor.
	const tag = cachedDataVersionTag();
	const name = `${command === "" ? "ragtag" : command.replaceAll(" ", "-")}-${build}-${tag.toString(16)}`;
	const kept = folder === undefined ? undefined : readCode(folder, name);
	const script = new Script(readFileSync(FILE, "utf8"), {
		filename: FILE,
		cachedData: kept,
	});
	if (folder !== undefined && (kept === undefined || script.cachedDataRejected === true)) {
		// At the end, so that the functions are in it that were compiled when they were called.
		process.once("exit", () => {
			// The flag of `src/rest/connections.ts` and the two that it sets: code of other flags can't be used at the next start.
			for (const flag of ["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"]) setFlagsFromString(flag);
			if (cachedDataVersionTag() === tag) keepCode(folder, name, script.createCachedData());
		});
	}
	const main: unknown = script.runInThisContext();
	if (typeof main !== "function") throw new Error(`${FILE} is not the program`);
	const module = { exports: {} };
	Reflect.apply(main, undefined, [module.exports, createRequire(FILE), module, FILE, dirname(FILE)]);
}

/** The command that a command line calls, as far as that can be told without reading it: it is only the name of a file. */
export function commandOf(argv: readonly string[], commands: readonly string[]): string {
	const pairs = argv.map((word, at) => `${word} ${argv[at + 1] ?? ""}`);
	return [...pairs, ...argv].find((words) => commands.includes(words)) ?? "";
}
