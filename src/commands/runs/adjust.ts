import { randomBytes } from "node:crypto";
import type { App } from "../../app.ts";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import { declare, toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { VERBOSITY } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { parseRate } from "../../flags/values.ts";
import { rateSettingText } from "../../rates.ts";
import {
	ADJUST_FILE,
	ADJUSTED_FILE,
	readTakenChange,
	type TakenChange,
	wantedChangeText,
} from "../../run/recorded/adjust-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { writeWhole } from "../../write-whole.ts";
import type { RunsFlags } from "../../workflows/recorded/choose-run.ts";
import { executionOf, runGoingOn } from "../../workflows/recorded/run-state.ts";

const OPTIONS = {
	...VERBOSITY,
	rate: valued(
		"--rate <n>",
		"most requests per second, auto, unlimited, or a timetable: '08:00=20 20:00=100'",
		parseRate,
	),
	pause: toggle("--pause", "sends nothing until --continue; requests in flight are finished").rule(
		"excludes",
		"--continue",
	),
	continue: toggle("--continue", "ends a pause"),
};

type AdjustFlags = RunsFlags & ValuesOf<typeof OPTIONS>;

/**
 * The longest time for the run's answer, in milliseconds, as it checks each second; and the interval of checks for the
 * answer.
 */
const ANSWER_MS = 5_000;
const LOOK_MS = 100;

/** Bytes of the text by which an answer is recognised. */
const ID_BYTES = 8;

export const adjustCommand = declare({
	summary: "change the rate of a run that is going on, or pause it",
	description:
		"Changes the rate of a run that is going on in another terminal, pauses it or continues it. It waits until the run " +
		"has taken the change, 5 s at most. A paused run sends nothing and keeps its lock; --max-duration still counts. " +
		"The cap that runs share by --limiter stays: the rate of this run alone changes.",
	examples:
		"ragtag runs adjust --rate 20\nragtag runs adjust --pause\nragtag runs adjust --continue --rate '08:00=20 20:00=100'",
	arguments: { "[run]": "name of the run (default: the one that is going on)" },
	options: OPTIONS,
	run: async ({ run: name, ...flags }, app) => {
		const { rate, pause = false, continue: proceed = false } = flags;
		if (rate === undefined && !pause && !proceed) {
			throw usageError("there is nothing to change", "Give --rate N, --pause or --continue.");
		}
		const runs = app.runs(await app.settings(flags));
		const run = name === undefined ? await runGoingOn(runs) : (await runs.find(name)).run;
		await checkGoingOn(run, runs, flags);
		const id = randomBytes(ID_BYTES).toString("hex");
		const text = wantedChangeText({ id, rate, paused: pause || proceed ? pause : undefined });
		const path = runs.path(run, ADJUST_FILE);
		await writeWhole(path, text, { isSynced: false }).catch((error: unknown) => {
			throw new CliError(`${path}: ${reason(error)}; nothing was changed`, { exit: Exit.storage, cause: error });
		});
		const taken = await answerOf(id, run, runs, app);
		if (taken !== undefined) {
			await app.io.out(`Run ${run}: ${takenText(taken)}.\n`);
			return Exit.ok;
		}
		if ((await executionOf(run, runs)) === undefined) {
			throw new CliError(`run ${run} ended before it took the change`, {
				exit: Exit.temporary,
				hint: "ragtag runs show has the outcomes of its rows.",
			});
		}
		throw new CliError(`run ${run} has not taken the change within ${ANSWER_MS / 1000} s`, {
			exit: Exit.temporary,
			hint: "Another runs adjust may have replaced it. Else it is taken later: check whether the process is suspended, or its machine asleep.",
		});
	},
});

/** @throws CliError exit 2 where no process executes the run. One of another machine may: its answer will say. */
async function checkGoingOn(run: string, runs: RunStore, flags: AdjustFlags): Promise<void> {
	const state = await executionOf(run, runs);
	if (state === "running" || state === "elsewhere") return;
	const rate = flags.rate === undefined ? "" : ` --rate '${rateSettingText(flags.rate)}'`;
	throw usageError(
		`run ${run} is not going on; nothing was changed`,
		`ragtag runs list shows how it ended. If rows are pending: ${withFlags(`ragtag runs resume ${run}`, flags)}${rate}`,
	);
}

async function answerOf(id: string, run: string, runs: RunStore, app: App): Promise<TakenChange | undefined> {
	const { clock, signal } = app;
	const until = clock.now() + ANSWER_MS;
	while (clock.now() < until) {
		signal.throwIfAborted();
		const taken = readTakenChange((await runs.readFile(run, ADJUSTED_FILE)) ?? "");
		if (taken?.id === id) return taken;
		await clock.sleep(LOOK_MS, signal);
	}
	return undefined;
}

/** `rate 100 → 20, paused`. */
function takenText({ before, rate, paused }: TakenChange): string {
	const [from, to] = [rateSettingText(before), rateSettingText(rate)];
	const state = paused ? "paused" : "not paused";
	return `rate ${from === to ? to : `${from} → ${to}`}, ${state}`;
}
