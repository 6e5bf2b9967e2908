// Runs a chosen part of the tests under other Node versions than the one at hand. The `node-PLATFORM-ARCH` packages of npm
// hold nothing but the executable of one version; they are installed in a temporary folder. Then the first steps of a user
// with the packed program, under the oldest Node of each line.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { BY_NPX, checkSize, firstSteps, INSTALLED, installed, installSqlite } from "./first-steps.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The floor is what CI itself runs on; these are the newer lines that are supported, and one that is not. */
const SUPPORTED = ["24.21.0", "26.10.0"];
const TOO_OLD = "18.20.8";
/** The floor, which has no SQLite for the sandbox, and the first of each line that has it. */
const WITHOUT_SQLITE = "20.19.0";
const WITH_SQLITE = ["22.13.0", "24.0.0"];
/** What differs between versions: the language, its library, streams and processes. Its rules are tested with the floor alone. */
const CHOSEN = [
	...["code-cache", "debugger", "download", "executable", "sandbox", "spreadsheets"].map(
		(name) => `test/e2e/${name}.test.ts`,
	),
	...["start", "stops", "terminal"].map((name) => `test/e2e/${name}.test.ts`),
	...["bytes", "csv", "json", "pieces", "xlsx"].map((name) => `test/manifest/${name}.test.ts`),
	...["bytes", "connections", "decode", "download", "proxy"].map((name) => `test/rest/${name}.test.ts`),
	"test/io",
	"test/settings/certificates.test.ts",
	// What their JSON.parse reads wrong. The other tests of JSON compare with it.
	"test/json/escaped-names.test.ts",
	// The line reader of Node 24 ends lines at more than line feeds.
	"test/commands/tag/separators.test.ts",
	// Node 20 has no SQLite of its own.
	"test/sandbox/sqlite.test.ts",
];

const name = `node-${process.platform}-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), "ragtag-nodes-"));
const say = (text) => process.stdout.write(`${text}\n`);

function install(version) {
	const prefix = join(folder, version);
	const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", prefix];
	execFileSync("npm", ["install", ...flags, `${name}@${version}`], { cwd: folder, stdio: "inherit" });
	return join(prefix, "node_modules", name, "bin", "node");
}

function test(version) {
	const node = install(version);
	say(`\nNode ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
	const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
	const { status } = spawnSync(node, [vitest, "run", ...CHOSEN, ...process.argv.slice(2)], {
		cwd: root,
		stdio: "inherit",
	});
	return status === 0;
}

/** An old Node must end with one line and exit 2, not with a stack trace. */
function refusesOldNode() {
	const { status, stdout, stderr } = spawnSync(install(TOO_OLD), [join(root, "dist/bin/ragtag.js"), "--version"], {
		encoding: "utf8",
	});
	say(`\nNode ${TOO_OLD}: exit ${status}: ${stderr.trim()}`);
	return status === 2 && stdout === "" && /^ragtag: .*needs Node 20\.19.*\n$/.test(stderr);
}

/** Every user gets a home and an installation of his own. */
async function packedProgram() {
	execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio: "ignore" });
	const archive = join(
		folder,
		readdirSync(folder).find((name) => name.endsWith(".tgz")),
	);
	const user = (version, name) => {
		const home = join(folder, `home-${version}-${name}`);
		mkdirSync(home);
		return installed(home, archive, install(version));
	};
	say("");
	for (const version of WITH_SQLITE) {
		const one = user(version, "installed");
		const bytes = checkSize(one);
		await firstSteps(one, INSTALLED);
		say(`Node ${version}: one package, ${(bytes / 1e6).toFixed(2)} MB: sandbox, tag and undo`);
	}
	for (const [name, words] of Object.entries({ installed: INSTALLED, npx: BY_NPX })) {
		const one = user(WITHOUT_SQLITE, name);
		installSqlite(one, words);
		await firstSteps(one, words);
		say(`Node ${WITHOUT_SQLITE}, ${name}: the line for libsql, then sandbox, tag and undo`);
	}
	return true;
}

try {
	if (!existsSync(join(root, "dist/bin/ragtag.js")))
		execFileSync("npm", ["run", "build"], { cwd: root, stdio: "inherit" });
	const results = [refusesOldNode(), await packedProgram(), ...SUPPORTED.map((version) => test(version))];
	process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
