// Asks the program for the tree of its commands, in the process of the build.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PassThrough, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundleOptions } from "./bundle.mjs";

const PARTS = 'export { main } from "./src/cli.ts"; export { createApp, createIo } from "./src/app.ts";';

/** The tree as `ragtag help --json` prints it. @param options more options of esbuild */
export async function helpTree(root, version, options) {
	const folder = await mkdtemp(join(tmpdir(), "ragtag-help-"));
	try {
		const outfile = join(folder, "program.mjs");
		const { entryPoints: _, ...shared } = bundleOptions(root, version);
		await build({ ...shared, ...options, stdin: { contents: PARTS, resolveDir: root, loader: "ts" }, outfile });
		const program = await import(pathToFileURL(outfile).href);
		return JSON.parse((await printed(program, ["help", "--json"])).trimEnd().split("\n").at(-1));
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
	const ownProcess = { pid: process.pid, isRunning: () => true };
	const exit = await main(argv, createApp({ io, env: {}, home: undefined, stdin, signal, ownProcess }));
	if (exit !== 0 || text === "") throw new Error(`ragtag ${argv.join(" ")} ended with ${exit}`);
	return text;
}
