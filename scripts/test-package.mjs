// Packs the checkout, installs the tarball in an empty folder as a user would, and runs the end-to-end tests with what was installed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ragtag-package-"));
const say = (text) => process.stdout.write(`${text}\n`);

try {
	// `prepack` builds. Where it did not, the installed command would be missing below.
	rmSync(join(root, "dist"), { recursive: true, force: true });
	execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, stdio: "inherit" });
	const { version } = JSON.parse(
		execFileSync("npm", ["pkg", "get", "name", "version"], { cwd: root, encoding: "utf8" }),
	);
	const prefix = join(folder, "prefix");
	const tarball = join(folder, `ragtag-cli-${version}.tgz`);
	execFileSync(
		"npm",
		["install", "--global", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, tarball],
		{
			stdio: "inherit",
		},
	);
	const command = join(prefix, "bin", "ragtag");
	const printed = execFileSync(command, ["--version"], { encoding: "utf8", cwd: folder }).trim();
	if (printed !== version) throw new Error(`the installed command prints version ${printed}, not ${version}`);
	say(`installed: ragtag ${printed}`);
	const program = join(prefix, "lib", "node_modules", "ragtag-cli", "dist", "bin", "ragtag.js");
	if (!existsSync(program)) throw new Error("the package holds no program");
	// A Node without SQLite: what the sandbox says is typed, as a user would.
	const refused = spawnSync(command, ["sandbox", "--port", "0"], { encoding: "utf8", timeout: 5000 });
	const line = /npm (install --global libsql@\S+)$/m.exec(refused.stderr)?.[1];
	if (line !== undefined) execFileSync("npm", [...line.split(" "), "--prefix", prefix], { stdio: "inherit" });
	const { status } = spawnSync("npx", ["vitest", "run", "test/e2e", ...process.argv.slice(2)], {
		cwd: root,
		env: { ...process.env, RAGTAG_PROGRAM: program },
		stdio: "inherit",
	});
	process.exitCode = status ?? 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
