// Builds dist-binary/: the program as one executable for this platform, which needs no Node, and what is published with it.
// `--downloads URL` names the folder in which the files will be published, and writes a Homebrew formula.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { bundleOptions } from "./bundle.mjs";
import { sbomOf } from "./sbom.mjs";
import { joined, thirdPartyText } from "./third-party.mjs";

/** The first line that takes an ES module and writes the executable by itself. scripts/test-nodes.mjs tests this version. */
const NODE = "26.10.0";

const root = fileURLToPath(new URL("..", import.meta.url));
const output = join(root, "dist-binary");
const { name, version, license, description } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const platform = `${process.platform}-${process.arch}`;
const file = `ragtag-${version}-${platform}`;
const { downloads } = parseArgs({ options: { downloads: { type: "string" } } }).values;
const say = (text) => process.stdout.write(`${text}\n`);

if (process.platform !== "linux") throw new Error("the executable is built and tested on Linux alone");
// The package's build makes the manual pages.
execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
const work = await mkdtemp(join(tmpdir(), "ragtag-binary-"));
try {
	await rm(output, { recursive: true, force: true });
	await mkdir(output);
	const folder = await installNode();
	const { metafile } = await build({
		...bundleOptions(root, version),
		outdir: work,
		target: `node${NODE}`,
		// Its code is a binary of its own. The sandbox takes Node's own SQLite where it is missing.
		external: ["libsql"],
	});
	const inputs = Object.keys(metafile.inputs);
	await writeExecutable(join(folder, "bin/node"));
	const own = await thirdPartyText(root, inputs);
	const licence = await readFile(join(folder, "LICENSE"), "utf8");
	await writeFile(join(output, "THIRD-PARTY.txt"), joined([own, `Node.js ${NODE}\n\n${licence}`]));
	const versions = JSON.parse(run(join(folder, "bin/node"), ["-p", "JSON.stringify(process.versions)"]));
	const sbom = await sbomOf(root, inputs, { name, version, license }, versions);
	await writeFile(join(output, "sbom.cdx.json"), `${JSON.stringify(sbom, null, "\t")}\n`);
	await writeSums();
	if (downloads !== undefined) await writeFormula(downloads.replace(/\/+$/, ""));
	const { size } = await stat(join(output, file));
	say(`dist-binary/${file}: ${(size / 1e6).toFixed(1)} MB, Node ${NODE}`);
} finally {
	await rm(work, { recursive: true, force: true });
}

function run(command, args) {
	return execFileSync(command, args, { encoding: "utf8", cwd: work });
}

/** The package of npm that holds nothing but the executable of one version. @returns its folder */
async function installNode() {
	const packed = `node-${platform}`;
	const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", work];
	execFileSync("npm", ["install", ...flags, `${packed}@${NODE}`], { cwd: work, stdio: "inherit" });
	return join(work, "node_modules", packed);
}

async function writeExecutable(node) {
	const executable = join(work, "node");
	await cp(node, executable);
	// A fifth of the file are names for a debugger.
	run("strip", [executable]);
	const assets = {};
	for (const folder of ["docs", "dist/man"]) {
		for (const page of await readdir(join(root, folder))) assets[`${folder}/${page}`] = join(root, folder, page);
	}
	const config = {
		main: join(work, "bin/ragtag.js"),
		mainFormat: "module",
		executable,
		output: join(output, file),
		disableExperimentalSEAWarning: true,
		useCodeCache: true,
		assets,
	};
	await writeFile(join(work, "sea.json"), JSON.stringify(config));
	run(executable, ["--build-sea", join(work, "sea.json")]);
}

async function sumOf(path) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	return hash.digest("hex");
}

/** As `sha256sum --check` reads it. */
async function writeSums() {
	const lines = [];
	for (const one of (await readdir(output)).toSorted()) lines.push(`${await sumOf(join(output, one))}  ${one}\n`);
	await writeFile(join(output, "SHA256SUMS"), lines.join(""));
}

async function writeFormula(address) {
	const template = await readFile(join(root, "packaging/ragtag.rb.template"), "utf8");
	const values = {
		// Homebrew takes at most 80 characters.
		DESCRIPTION: description.split(",")[0],
		ADDRESS: address,
		FILE: file,
		VERSION: version,
		LICENSE: license,
		// Homebrew's name of it.
		ARCH: process.arch === "x64" ? "x86_64" : process.arch,
		SHA256: await sumOf(join(output, file)),
	};
	const formula = template.replaceAll(/@([A-Z0-9]+)@/g, (_, key) => values[key]);
	await writeFile(join(output, "ragtag.rb"), formula);
}
