// A kill, a full disk and a failing one at every single write of the journal, one after the other.
import { spawnSync } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ledger, resent } from "./ledger.mjs";
import { start, startSandbox } from "./processes.mjs";
import { newestFolder, outcomesOf, runFolders } from "./records.mjs";
import { disagreements, lostRows, summaryIn } from "./rounds.mjs";
import { FAST, holds, idOf, tagManifest } from "./tag.mjs";

const FAULTY_FILES = pathToFileURL(fileURLToPath(new URL("faulty-files.mjs", import.meta.url))).href;
const FILE = "journal.log";
const ROWS = 4;
const IN_FLIGHT = 2;
/** More writes than that no run of so few rows makes: something would not come to an end. */
const MOST = 60;
const STORAGE = 7;

/** In the process: works everywhere, and from the first write of a new run on. */
const INSIDE = [
	{ call: "write", how: "kill" },
	{ call: "write", how: "torn" },
	{ call: "write", how: "kill-after" },
	{ call: "datasync", how: "kill-after" },
	{ call: "write", how: "ENOSPC" },
	{ call: "datasync", how: "EIO" },
];

/** By the system: no code of the program's process is touched. The file must be there, so it is a run that goes on. */
const OUTSIDE = [
	{ call: "write", how: "signal=KILL" },
	{ call: "fdatasync", how: "signal=KILL" },
	{ call: "write", how: "error=ENOSPC" },
	{ call: "fdatasync", how: "error=EIO" },
];

/** Why strace can't be used here; undefined where it can. */
function withoutStrace() {
	const { error, status, stderr } = spawnSync("strace", ["-f", "-o", "/dev/null", "true"], { encoding: "utf8" });
	if (error !== undefined) return `strace can't be started (${error.code})`;
	return status === 0 ? undefined : `strace is not permitted: ${stderr.trim().split("\n").at(-1)}`;
}

export async function tortureWrites(folder, { seed, tell }) {
	const sandbox = await startSandbox(folder, ["--documents", String(ROWS)], { seed, faults: [] });
	const figures = { faultsInjected: 0, resumes: 0, lost: 0, doubled: 0, again: 0 };
	const faults = [];
	try {
		await writeFile(join(folder, "m.csv"), tagManifest(ROWS));
		const words = ["-d", sandbox.dataset, ...FAST, "--concurrency", String(IN_FLIGHT)];
		const world = { folder, sandbox, argv: ["docs", "tag", "m.csv", ...words], figures, faults };
		const fresh = join(folder, "fresh");
		await mkdir(fresh);
		const inside = (fault) => ({
			before: [process.execPath, "--import", FAULTY_FILES],
			env: { FAULTY_FILES: JSON.stringify(fault) },
		});
		for (const { call, how } of INSIDE) {
			const fault = (nth) => inside({ file: FILE, call, how, nth });
			await sweep(world, `${how} at ${call} of a new run's journal`, fresh, fault, tell);
		}
		const why = withoutStrace();
		if (why !== undefined) {
			tell(`skipped: the same by the system. ${why}`);
			return { figures, faults };
		}
		// A run that was killed behind its first row, of which copies are gone on with.
		const begun = join(folder, "begun");
		await mkdir(begun);
		const first = inside({ file: FILE, call: "write", how: "kill", nth: 3 });
		await start(world.argv, { cwd: folder, ...first, env: { ...sandbox.env, ...first.env, RAGTAG_STATE_DIR: begun } })
			.ended;
		for (const { call, how } of OUTSIDE) {
			const words = (nth, state) => [
				`trace=${call}`,
				`inject=${call}:${how}:when=${nth}`,
				join(newestFolder(state), FILE),
			];
			const fault = (nth, state) => ({
				before: traced(...words(nth, state)),
				// strace counts the calls of each thread by itself: so one of them writes.
				env: { UV_THREADPOOL_SIZE: "1", UV_USE_IO_URING: "0" },
			});
			await sweep(world, `${how} at ${call} of the journal, by strace`, begun, fault, tell);
		}
		return { figures, faults };
	} finally {
		await sandbox.stop();
	}
}

/** The program under strace, which injects a fault into calls that concern a path. */
function traced(trace, inject, path) {
	return ["strace", "-f", "-o", "/dev/null", "-P", path, "-e", trace, "-e", inject, process.execPath];
}

/** The fault at the first call, at the second, and so on until the run has no such call any more. */
async function sweep(world, title, base, fault, tell) {
	const { folder, sandbox, argv, figures, faults } = world;
	const options = { cwd: folder };
	// What was settled before the first of these starts was applied then.
	const settled = new Set(runFolders(base).flatMap((run) => [...outcomesOf(run).rows.keys()]));
	let nth = 0;
	for (;;) {
		nth += 1;
		if (nth > MOST) throw new Error(`${title}: no end after ${MOST} writes`);
		const state = join(folder, "state");
		await cp(base, state, { recursive: true });
		const ledger = new Ledger(sandbox.control);
		await ledger.follow();
		ledger.forget();
		const { before, env } = fault(nth, state);
		const starts = [Date.now()];
		const own = { ...sandbox.env, RAGTAG_STATE_DIR: state };
		const struck = await start(argv, { ...options, before, env: { ...own, ...env } }).ended;
		const isOver = struck.code === 0;
		const isKilled = struck.signal === "SIGKILL" || struck.code === 137;
		const where = `${title}, number ${nth}`;
		if (!isOver && !isKilled && struck.code !== STORAGE) {
			faults.push(`${where}: exit ${struck.code}, not ${STORAGE}: ${struck.err.trimEnd().split("\n").at(-1)}`);
		}
		starts.push(Date.now());
		const end = isOver ? struck : await start(argv, { ...options, env: own }).ended;
		figures.resumes += isOver ? 0 : 1;
		figures.faultsInjected += isOver ? 0 : 1;
		await ledger.settle(10);
		faults.push(...judge(world, where, { end, starts, state, ledger, settled }));
		await rm(state, { recursive: true });
		if (isOver) break;
	}
	if (nth === 1) faults.push(`${title}: never struck`);
	tell(`${title}: ${nth - 1}`);
}

function judge({ figures }, where, { end, starts, state, ledger, settled }) {
	const summary = summaryIn(end.out);
	const { rows: outcomes, doubled } = outcomesOf(join(state, "runs", String(summary.run)));
	const { writes, all, most } = resent(ledger, starts);
	const isApplied = (row) => settled.has(row) || writes.get(idOf(row))?.some((write) => holds(write, { n: row }));
	const lost = lostRows(outcomes, ROWS, isApplied);
	figures.lost += lost.length;
	figures.doubled += doubled.length;
	figures.again += all;
	const faults = disagreements(summary, outcomes, ROWS).map((text) => `${where}: ${text}`);
	if (end.code !== 0) faults.push(`${where}: exit ${end.code}: ${end.err.trimEnd().split("\n").at(-1)}`);
	if (lost.length > 0) faults.push(`${where}: rows lost: ${lost.join(", ")}`);
	if (doubled.length > 0) faults.push(`${where}: rows counted twice: ${doubled.join(", ")}`);
	if (most > IN_FLIGHT) faults.push(`${where}: ${most} rows were sent again`);
	return faults;
}
