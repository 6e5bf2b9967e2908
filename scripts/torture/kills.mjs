// Starts a command again and again, and kills it at moments that nobody chose.
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { newestFolder, sizeOf } from "./records.mjs";
import { start } from "./processes.mjs";

/** Bytes that a row takes in the journal, and milliseconds that a start takes: so many that kills fall everywhere. */
const ROW = 230;
const START_UP = 350;

/**
 * One run from its start to its end, killed up to so many times on the way.
 *
 * @param share rows between two kills, on average
 * @returns how it ended, the kills, and when each execution began
 */
export async function killedRun(argv, { cwd, env, state, kills, share, random, onKill }) {
	const starts = [];
	let killed = 0;
	for (;;) {
		starts.push(Date.now());
		const { child, ended } = start(argv, { cwd, env });
		let over = false;
		ended.then(
			() => (over = true),
			() => (over = true),
		);
		if (killed < kills) {
			await moment(state, share, random, () => over);
			child.kill("SIGKILL");
		}
		const end = await ended;
		if (end.signal !== "SIGKILL") return { end, killed, starts };
		killed += 1;
		await onKill?.(killed);
	}
}

/** A third of the kills fall into the start, the others behind some rows of work. */
async function moment(state, share, random, isOver) {
	if (random() < 0.3) return await sleep(random() * START_UP);
	const journal = () => {
		const folder = newestFolder(state);
		return folder === undefined ? 0 : sizeOf(join(folder, "journal.log"));
	};
	const target = journal() + random() * 2 * share * ROW;
	const pause = random() * 8;
	while (!isOver() && journal() < target) await sleep(1);
	await sleep(pause);
}
