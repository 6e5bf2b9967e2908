import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { makeFolder } from "../storage/folders.ts";
import { isOrder, type RunFile } from "./run-file.ts";

/** What tells the age of a run. */
export type Aged = Pick<RunFile, "run" | "started" | "order">;

/** Milliseconds by which a clock may be set back without a word: keeping it right moves it by less. */
const SLACK = 2_000;

/**
 * Orders runs by when they began, the oldest first: by their number, as the clock may have been wrong. Records of 0.1.0
 * have none; they come before all that have one, by their time.
 */
export function byAge(one: Aged, other: Aged): number {
	const difference = (one.order ?? 0) - (other.order ?? 0);
	if (difference !== 0) return difference;
	// Equal numbers: both have none, or two machines that share a folder took one at once.
	return one.run < other.run ? -1 : one.run > other.run ? 1 : 0;
}

/** A run that began before another by its number, and after it by the clock: the clock was changed between. */
export function contradiction<Run extends Aged>(newest: Aged, all: readonly Run[]): Run | undefined {
	const began = Date.parse(newest.started);
	return all.find((other) => byAge(other, newest) < 0 && Date.parse(other.started) > began + SLACK);
}

/**
 * Takes the next number for a run. It is a file's name, which one process alone can make: so two starts at once get two
 * numbers, on several machines too, and a process that is killed here leaves a gap and no harm. The records are asked
 * as well: where the file is lost, or an old copy of it was put back, they still know the largest.
 *
 * @param recorded the runs that there are
 */
export async function takeOrder(runsFolder: string, recorded: readonly Aged[]): Promise<number> {
	const folder = join(runsFolder, ".order");
	await makeFolder(folder);
	const taken = (await readdir(folder)).map(Number).filter(isOrder);
	let next = 1 + [...taken, ...recorded.map(({ order }) => order ?? 0)].reduce((a, b) => Math.max(a, b), 0);
	for (; ; next++) {
		try {
			await (await open(join(folder, String(next)), "wx", 0o600)).close();
			break;
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
		}
	}
	// The last one is enough: those before it are in records, or were given up.
	for (const earlier of taken) await rm(join(folder, String(earlier)), { force: true });
	return next;
}
