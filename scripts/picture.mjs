// `npm run picture`: runs the commands of the README's first screen on a terminal, against a sandbox on this machine, and
// draws what that terminal shows as docs/first-run.svg. `--check` draws nothing, and fails where the commands show other words.
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { drawn, words } from "./picture/draw.mjs";
import { screenOf } from "./picture/screen.mjs";

const PICTURE = fileURLToPath(new URL("../docs/first-run.svg", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../dist/bin/ragtag.js", import.meta.url));
const STEPS = fileURLToPath(new URL("picture/steps.sh", import.meta.url));
/** Columns: what a README shows without making it smaller. */
const COLUMNS = 100;

const folder = await mkdtemp(join(tmpdir(), "ragtag-picture-"));
try {
	const screen = await screenOf(recorded(), COLUMNS);
	if (process.argv.includes("--check")) {
		const before = words(await readFile(PICTURE, "utf8"));
		const now = words(drawn(screen, COLUMNS));
		if (before !== now) throw new Error(`docs/first-run.svg is old: npm run picture\n${before}\n--- now:\n${now}`);
	} else await writeFile(PICTURE, drawn(screen, COLUMNS));
} finally {
	await rm(folder, { recursive: true, force: true });
}

/** What the steps write to a terminal of that width. */
function recorded() {
	const env = {
		PATH: process.env.PATH,
		HOME: folder,
		TMPDIR: folder,
		LANG: "C.UTF-8",
		TERM: "xterm-256color",
		RAGTAG: PROGRAM,
	};
	const sandbox = `${process.execPath} ${PROGRAM} sandbox --quiet -- bash -e ${STEPS}`;
	// util-linux gives the program a terminal; nothing else sets its width.
	const line = `stty cols ${COLUMNS} rows 60; cd ${folder}; exec ${sandbox}`;
	const { status, stdout, stderr } = spawnSync("script", ["-qefc", line, "/dev/null"], {
		env,
		input: "",
		encoding: "utf8",
		timeout: 120_000,
	});
	if (status !== 0) throw new Error(`the steps ended with ${status}\n${stdout}\n${stderr}`);
	return stdout;
}
