// Builds the executable, and runs the end-to-end tests with it on a PATH that has no Node.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NODE = /^(node|nodejs|npm|npx|corepack)$/;

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ragtag-path-"));

/** Links to all programs of the PATH but those of Node, in the order in which a shell finds them. */
function pathWithoutNode() {
	const seen = new Set();
	for (const each of (process.env.PATH ?? "").split(delimiter)) {
		for (const name of namesIn(each)) {
			if (NODE.test(name) || seen.has(name)) continue;
			seen.add(name);
			symlinkSync(join(each, name), join(folder, name));
		}
	}
	return folder;
}

function namesIn(path) {
	try {
		return readdirSync(path);
	} catch {
		// A shell passes over such a folder, too.
		return [];
	}
}

try {
	const downloads = ["--downloads", "https://downloads.example.com/ragtag/"];
	execFileSync(process.execPath, [join(root, "scripts/build-binary.mjs"), ...downloads], { stdio: "inherit" });
	const output = join(root, "dist-binary");
	const program = readdirSync(output).find((name) => name.startsWith("ragtag-"));
	if (program === undefined) throw new Error("the build made no executable");
	const vitest = join(root, "node_modules/vitest/vitest.mjs");
	const { status } = spawnSync(process.execPath, [vitest, "run", "test/e2e", ...process.argv.slice(2)], {
		cwd: root,
		env: { ...process.env, RAGTAG_PROGRAM: join(output, program), RAGTAG_PROGRAM_PATH: pathWithoutNode() },
		stdio: "inherit",
	});
	process.exitCode = status ?? 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
