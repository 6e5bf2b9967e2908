import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { ageText, KEEP_RUNS } from "../../text/times.ts";
import { numberText, runsText, sizeText } from "../../text/words.ts";
import { declare, defaulted, toggle, type ValuesOf } from "../../flags/declare.ts";
import { VERBOSITY } from "../../flags/flags.ts";
import { parseAge, parseCount } from "../../flags/values.ts";
import { askForYes } from "../../workflows/question.ts";
import { type ListShape, printList } from "../../workflows/lists/list-output.ts";
import type { RunsFlags } from "../../workflows/recorded/choose-run.ts";
import {
	KEPT_RUNS,
	newestThatWrote,
	type PruneCandidate,
	pruneCandidate,
	type Removal,
	removeRun,
} from "../../workflows/recorded/remove-run.ts";
import { executionOf } from "../../workflows/recorded/run-state.ts";

const OPTIONS = {
	...VERBOSITY,
	olderThan: defaulted(
		"--older-than <time>",
		"how long ago a run must have ended: 12h, 7d, 4w",
		parseAge,
		KEEP_RUNS,
	).default(KEEP_RUNS, ageText(KEEP_RUNS)),
	keepLast: defaulted(
		"--keep-last <count>",
		"keeps the newest runs that wrote, whatever their age",
		parseCount(0, 1_000_000),
		KEPT_RUNS,
	),
	all: toggle("--all", "also removes unfinished runs"),
	yes: toggle("-y, --yes", "removes without asking"),
	dryRun: toggle("-n, --dry-run", "prints what would be removed, with sizes, and removes nothing"),
};

type PruneFlags = RunsFlags & ValuesOf<typeof OPTIONS>;

/** Runs that a question names. */
const NAMED = 3;

export const pruneCommand = declare({
	summary: "remove the records of old runs",
	description:
		"Removes the records of old runs that have ended. Unfinished runs stay, unless --all is given. A run in progress always stays. Asks first on a terminal.",
	examples: "ragtag runs prune --older-than 30d --dry-run\nragtag runs prune --older-than 7d --keep-last 5 --yes",
	arguments: { "[run]": "only this run, whatever its age" },
	options: OPTIONS,
	run: prune,
});

async function prune({ run: name, ...flags }: PruneFlags, app: App): Promise<ExitCode> {
	const { io } = app;
	const runs = app.runs(await app.settings(flags));
	const isDry = flags.dryRun === true;
	const all = await runs.files();
	const names =
		name === undefined
			? await chosenByAge(all, flags, runs)
			: [runs.damaged.has(name) ? name : (await runs.find(name)).run];
	const staysBecause = (candidate: PruneCandidate): string | undefined =>
		staysUnfinished(candidate, flags) ? `it is ${inWords(candidate)} (--all removes it too)` : undefined;
	const removal: Removal = { runs, all, staysBecause, isDry, flags };
	const chosen: Chosen[] = [];
	for (const run of names) {
		const old = await pruneCandidate(run, runs);
		if (old === undefined || (name === undefined && isYoung(old, flags.olderThan))) continue;
		if (staysUnfinished(old, flags)) {
			const goesOn = (await executionOf(run, runs)) === "running";
			io.note(
				`Run ${run} ${goesOn ? "is going on: it stays." : `is ${inWords(old)}: it stays (--all removes it too).`}`,
			);
			continue;
		}
		const bytes = await runs.sizeOf(run).catch(() => 0);
		chosen.push({ ...old, bytes });
	}
	// Without a terminal, as in cron, what was typed is the answer.
	const asks = io.stdinIsTerminal && flags.yes !== true && !isDry;
	if (asks && chosen.length > 0) await askForYes(`Remove ${recordsText(chosen)}? This cannot be undone.`, app);
	const removed: Chosen[] = [];
	for (const old of chosen) {
		const { run } = old;
		const why = await removeRun(old, removal);
		if (why === undefined) {
			if (flags.quiet !== true && !isDry) await io.out(`${run}\n`);
			removed.push(old);
		} else if (name === undefined) {
			io.note(`Run ${run} stays: ${why}.`);
		} else {
			throw new CliError(`run ${run} stays: ${why}; nothing was removed`, {
				exit: Exit.locked,
				hint: "Wait until it has ended.",
			});
		}
	}
	if (isDry && removed.length > 0 && flags.quiet !== true) await printList(removed, WOULD_GO, undefined, app);
	if (name === undefined && !isDry) await runs.sweep();
	io.note(`${runsText(removed.length)} ${isDry ? "would be " : ""}removed${sizeOf(removed)}.`);
	return Exit.ok;
}

/** A run that is to be removed. */
type Chosen = PruneCandidate & { readonly bytes: number };

/** `, 1.2 MB` */
function sizeOf(runs: readonly Chosen[]): string {
	const bytes = runs.reduce((sum, each) => sum + each.bytes, 0);
	return bytes === 0 ? "" : `, ${sizeText(bytes)}`;
}

/** `the records of 9 runs, 1.2 MB (20260801T020000-1a2b3c, ... and 6 more), without which no row of theirs can be undone` */
function recordsText(runs: readonly Chosen[]): string {
	const more = runs.length > NAMED ? ` and ${numberText(runs.length - NAMED)} more` : "";
	const names = runs.slice(0, NAMED).map(({ run, state }) => `${run} (${state})`);
	return `the records of ${runsText(runs.length)}${sizeOf(runs)}, without which no row of theirs can be undone: ${names.join(", ")}${more}`;
}

const WOULD_GO: ListShape<Chosen> = {
	columns: [
		{ name: "run", cell: ({ run }) => run, isTyped: true },
		{ name: "command", cell: ({ file }) => file?.command ?? "" },
		{ name: "state", cell: ({ state }) => state },
		{ name: "rows", cell: ({ rows }) => String(rows ?? ""), spare: 2 },
		{ name: "ended", cell: ({ ended }) => new Date(ended).toISOString().replace(/\.\d+Z$/, "Z"), spare: 1 },
		{ name: "size", cell: ({ bytes }) => sizeText(bytes) },
		{ name: "manifest", cell: ({ file }) => file?.manifest.name ?? "" },
	],
	json: ({ run }) => JSON.stringify({ run }),
};

/** The folders of all runs but the newest that `--keep-last` keeps, the newest first. */
async function chosenByAge(
	all: readonly RunFile[],
	{ keepLast }: PruneFlags,
	runs: RunStore,
): Promise<readonly string[]> {
	const kept = await newestThatWrote(keepLast, all, runs);
	return (await runs.names()).filter((run) => !kept.has(run));
}

/** The state in a sentence. */
function inWords({ state }: PruneCandidate): string {
	return state === "other format" ? "of another format" : state;
}

/** Milliseconds: a run that begins copies its manifest before it records its target and manifest. */
const BEGINNING = 60 * 60 * 1000;

function isYoung({ file, ended }: PruneCandidate, olderThan: number): boolean {
	return Date.now() - ended < Math.max(olderThan, file === undefined ? BEGINNING : 0);
}

function staysUnfinished({ state }: PruneCandidate, { all }: PruneFlags): boolean {
	return all !== true && ["unfinished", "superseded", "damaged", "other format"].includes(state);
}
