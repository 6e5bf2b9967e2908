// Builds dist/ from bin/: a small file to start, which answers --version itself, the program in one file, whose
// compiled code is kept between calls (bin/compiled-program.ts), and libraries that few commands need.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { asAscii, commonJsOptions } from "./bundle.mjs";
import { helpTree } from "./help-tree.mjs";
import { buildLateParts, lateParts } from "./late-parts.mjs";
import { manPages } from "./man-pages.mjs";
import { thirdPartyText } from "./third-party.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(await readFile(`${root}package.json`, "utf8"));
const entry = `${root}dist/bin/ragtag.js`;
const program = `${root}dist/parts/program.js`;
// Not installed with the package: only the sandbox needs it, and only on a Node without SQLite.
const external = ["libsql"];

// A file of an earlier build would be published with the next.
await rm(`${root}dist`, { recursive: true, force: true });
const options = { ...commonJsOptions(root, version), external };
const whole = { ...options, plugins: [lateParts(), ...options.plugins] };
const { metafile } = await build({ ...whole, entryPoints: ["bin/main.ts"], outfile: program });
const inputs = [...Object.keys(metafile.inputs), ...(await buildLateParts(options, `${root}dist/parts`))];
// As Node wraps each file of CommonJS.
const text = `(function (exports, require, module, __filename, __dirname) {${asAscii(await readFile(program, "utf8"))}\n})`;
await writeFile(program, text);
for (const part of await readdir(`${root}dist/parts`)) {
	const path = `${root}dist/parts/${part}`;
	await writeFile(path, asAscii(await readFile(path, "utf8")));
}

const tree = await helpTree(root, version, { external });
const name = createHash("sha256").update(text).digest("hex").slice(0, 16);
const known = { __RAGTAG_PROGRAM__: name, __RAGTAG_COMMANDS__: tree.commands.map(({ command }) => command) };
// Names and all are short: it is read before the program can answer a signal.
const short = { ...commonJsOptions(root, version, known), minify: true };
await build({ ...short, entryPoints: ["bin/ragtag.ts"], outfile: entry });
const started = asAscii(await readFile(entry, "utf8"));
await writeFile(entry, started.startsWith("#!") ? started : `#!/usr/bin/env node\n${started}`);
await chmod(entry, 0o755);
// The package itself is of type "module".
await writeFile(`${root}dist/package.json`, '{ "type": "commonjs" }\n');

await writeFile(`${root}dist/THIRD-PARTY.txt`, await thirdPartyText(root, inputs));
await mkdir(`${root}dist/man`);
for (const [file, page] of manPages(tree)) await writeFile(`${root}dist/man/${file}`, page);
