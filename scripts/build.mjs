// Builds dist/ from bin/ragtag.ts: one small file to start, and a part for each command that is loaded when it is called.
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { bundleOptions } from "./bundle.mjs";
import { manPages } from "./man-pages.mjs";
import { thirdPartyText } from "./third-party.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(await readFile(`${root}package.json`, "utf8"));
const program = `${root}dist/bin/ragtag.js`;

// A file of an earlier build would be published with the next.
await rm(`${root}dist`, { recursive: true, force: true });
const { metafile } = await build({
	...bundleOptions(root, version),
	outdir: "dist",
	chunkNames: "parts/[name]-[hash]",
	splitting: true,
	// Optional: only the sandbox needs them, and libsql brings binaries that cannot be bundled.
	external: ["libsql", "@fastify/busboy"],
});
await writeFile(`${root}dist/THIRD-PARTY.txt`, await thirdPartyText(root, Object.keys(metafile.inputs)));
const text = await readFile(program, "utf8");
if (!text.startsWith("#!")) await writeFile(program, `#!/usr/bin/env node\n${text}`);
await chmod(program, 0o755);

// Each page is made by asking the program that was just built.
const { stdout } = await promisify(execFile)(process.execPath, [program, "help", "--json"], { maxBuffer: 2 ** 24 });
const tree = JSON.parse(stdout.trimEnd().split("\n").at(-1));
await mkdir(`${root}dist/man`);
for (const [name, page] of manPages(tree)) await writeFile(`${root}dist/man/${name}`, page);
