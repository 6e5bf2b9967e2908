// Packs the checkout in two folders, as two people would, and compares the archives. The second person has other settings.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** What a clone does not have, and the libraries, which are linked. */
const LEFT_OUT = new Set([".git", "node_modules", "dist", "dist-binary", "coverage", ".vitest-reports"]);
const work = mkdtempSync(join(tmpdir(), "ragtag-reproducible-"));
const say = (text) => process.stdout.write(`${text}\n`);

/** @returns the folder of a clone with its libraries */
function clone(name) {
	const folder = join(work, name, "ragtag");
	mkdirSync(folder, { recursive: true });
	for (const entry of readdirSync(root)) {
		if (!LEFT_OUT.has(entry)) cpSync(join(root, entry), join(folder, entry), { recursive: true });
	}
	// Not a symbolic link: the build follows one, and would see the libraries outside of the folder.
	const libraries = [join(root, "node_modules"), join(folder, "node_modules")];
	try {
		execFileSync("cp", ["-al", ...libraries], { stdio: "ignore" });
	} catch {
		// Another file system.
		execFileSync("cp", ["-a", "-T", ...libraries]);
	}
	return folder;
}

/** @returns the path of the archive */
function pack(folder, env) {
	execFileSync("npm", ["pack", "--silent"], { cwd: folder, env: { ...process.env, ...env }, stdio: "ignore" });
	return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
}

const sumOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Unpacks an archive beside it. @returns the folder, for diff */
function unpack(archive) {
	const folder = `${archive}-contents`;
	mkdirSync(folder);
	execFileSync("tar", ["-xzf", archive, "-C", folder]);
	return folder;
}

try {
	const one = pack(clone("one"), {});
	const other = clone("a folder of another user");
	// Its files as a umask of 077 leaves them.
	const files = readdirSync(other).filter((name) => name !== "node_modules");
	execFileSync("chmod", ["-R", "go=", ...files], { cwd: other });
	process.umask(0o077);
	const second = pack(other, { TZ: "Asia/Kolkata", LC_ALL: "C", SOURCE_DATE_EPOCH: "86400", COLUMNS: "40" });
	const sums = [one, second].map(sumOf);
	say(sums.map((sum) => `${sum}  ragtag-cli.tgz`).join("\n"));
	if (sums[0] !== sums[1]) {
		const list = (archive) => execFileSync("tar", ["-tvzf", archive], { encoding: "utf8" });
		say(list(one) === list(second) ? "equal names, modes and sizes" : "other names, modes or sizes");
		spawnSync("diff", ["--recursive", "--brief", ...[one, second].map(unpack)], { stdio: "inherit" });
		throw new Error("two folders make different packages of the same files");
	}
} finally {
	rmSync(work, { recursive: true, force: true });
}
