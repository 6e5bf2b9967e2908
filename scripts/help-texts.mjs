// Asks the program for its help, in the process of the build: a process for each command would take seconds.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PassThrough, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundleOptions } from "./bundle.mjs";

const PARTS = 'export { main } from "./src/cli.ts"; export { createApp, createIo } from "./src/app.ts";';

/**
 * The whole tree of commands as `ragtag help --json` prints it, and what `--help` and `-h` of each command print into a pipe.
 *
 * @param options more options of esbuild
 * @returns {Promise<{ tree: object, texts: Map<string, string> }>} texts by the words that are typed, as "docs tag --help"
 */
export async function helpOf(root, version, options) {
	const folder = await mkdtemp(join(tmpdir(), "ragtag-help-"));
	try {
		const outfile = join(folder, "program.mjs");
		const { entryPoints: _, ...shared } = bundleOptions(root, version);
		await build({ ...shared, ...options, stdin: { contents: PARTS, resolveDir: root, loader: "ts" }, outfile });
		const program = await import(pathToFileURL(outfile).href);
		const lines = (await printed(program, ["help", "--json"])).trimEnd().split("\n");
		const tree = JSON.parse(lines.at(-1));
		const texts = new Map();
		for (const { command } of tree.commands) {
			for (const flag of ["--help", "-h"]) {
				const words = [...command.split(" ").filter(Boolean), flag];
				texts.set(words.join(" "), await printed(program, words));
			}
		}
		return { tree, texts };
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

async function printed({ main, createApp, createIo }, argv) {
	let text = "";
	const take = (chunk, _encoding, done) => {
		text += chunk;
		done();
	};
	const [stdout, stderr] = [new Writable({ write: take }), new Writable({ write: take })];
	const stdin = new PassThrough().end();
	const io = createIo({ stdin, stdout, stderr, env: {} });
	const signal = new AbortController().signal;
	const processes = { pid: process.pid, isRunning: () => true };
	const exit = await main(argv, createApp({ io, env: {}, home: undefined, stdin, signal, processes }));
	if (exit !== 0 || text === "") throw new Error(`ragtag ${argv.join(" ")} ended with ${exit}`);
	return text;
}
