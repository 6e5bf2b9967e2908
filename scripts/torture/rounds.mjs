// Runs one after the other until all kills are spent, and what their figures come to.
import { killedRun } from "./kills.mjs";
import { start } from "./processes.mjs";
import { outcomesOf, runFolders } from "./records.mjs";

/** A kill more than that in one round would find nothing left to do. */
const SPARE = 0.6;

/**
 * Rounds in a row that may end before their kill. Removals are recorded many together, so that a round can be over when its
 * journal has grown to where the kill waits. A program that no kill reaches has none in all of them.
 */
const MOST_UNKILLED = 5;

/**
 * @param retries how often the failed rows of a run are tried again, as a user does who is told that they may be
 * @param begin gives the arguments of a round, and what judges it when it is over
 */
export async function rounds({ retries = 0, kills, rows, random, tell, ledger, cwd, env, state }, begin) {
	const sums = { kills: 0, rounds: 0, rows: 0, lost: 0, doubled: 0, failed: 0 };
	const faults = [];
	let unkilled = 0;
	const share = Math.max(0.5, (rows / kills) * SPARE);
	while (sums.kills < kills) {
		sums.rounds += 1;
		const round = sums.rounds;
		const { argv, judge } = await begin(round);
		const options = { cwd, env, state, kills: kills - sums.kills, share, random };
		const onKill = async (count) => {
			await ledger.follow();
			if ((sums.kills + count) % 50 === 0) tell(`${sums.kills + count} kills`);
		};
		const { end: last, killed, starts } = await killedRun(argv, { ...options, onKill });
		let end = last;
		for (let tries = 0; end.code === 1 && tries < retries; tries++) {
			sums.retried = (sums.retried ?? 0) + summaryIn(end.out).failed;
			starts.push(Date.now());
			end = await start(["runs", "retry", "--rate", "unlimited", "--json"], { cwd, env }).ended;
		}
		await ledger.settle();
		const folders = runFolders(state);
		const { rows: outcomes, doubled } = outcomesOf(folders.at(-1));
		const { lost, ...others } = await judge({ outcomes, starts });
		const summary = summaryIn(end.out);
		if (end.code !== 0) faults.push(`round ${round} ended with ${end.code}: ${end.err.trimEnd().split("\n").at(-1)}`);
		faults.push(...disagreements(summary, outcomes, rows).map((text) => `round ${round}: ${text}`));
		if (folders.length !== round) faults.push(`round ${round}: ${folders.length} runs were begun, not ${round}`);
		if (lost.length > 0) faults.push(`round ${round}: rows lost: ${lost.slice(0, 5).join(", ")}`);
		if (doubled.length > 0) faults.push(`round ${round}: rows counted twice: ${doubled.slice(0, 5).join(", ")}`);
		const own = { kills: killed, rows, lost: lost.length, doubled: doubled.length, failed: summary.failed ?? 0 };
		for (const [name, value] of Object.entries({ ...own, ...others })) {
			sums[name] = name === "most" ? Math.max(sums[name] ?? 0, value) : (sums[name] ?? 0) + value;
		}
		ledger.forget();
		unkilled = killed === 0 ? unkilled + 1 : 0;
		if (unkilled === MOST_UNKILLED) {
			faults.push(`the last ${MOST_UNKILLED} rounds ended before a kill`);
			break;
		}
	}
	return { sums, faults };
}

export function summaryIn(out) {
	return JSON.parse(out.trimEnd().split("\n").at(-1) || "{}");
}

/** In what the summary and the journal differ. */
export function disagreements(summary, outcomes, rows) {
	const texts = summary.rows === rows ? [] : [`the summary has ${summary.rows} rows, the manifest ${rows}`];
	for (const status of ["updated", "uploaded", "removed", "failed"]) {
		const recorded = [...outcomes.values()].filter(({ s }) => s === status).length;
		if (summary[status] !== recorded)
			texts.push(`${summary[status]} ${status} in the summary, ${recorded} in the journal`);
	}
	return texts;
}

/** Rows without an outcome, and those that are counted as written and were not. */
export function lostRows(outcomes, rows, isApplied) {
	const lost = [];
	for (let row = 0; row < rows; row++) {
		const outcome = outcomes.get(row);
		if (outcome === undefined || (outcome.s !== "failed" && !isApplied(row, outcome))) lost.push(row);
	}
	return lost;
}
