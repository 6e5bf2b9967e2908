import type { RecordedRun } from "../journal/open.ts";
import { READ_BACK_DELAYS_MS } from "../retry/read-back-delays.ts";
import { type LaterRun, writtenAgain } from "./later-runs.ts";
import { type Judged, lookBack, type LookBackOptions } from "./look-back.ts";
import { countByDataset, type PickedRows } from "./picked-rows.ts";

/** Waits before what looks lost is looked at again, in milliseconds. It was looked at without a wait already. */
const WAITS = READ_BACK_DELAYS_MS.filter((lag) => lag > 0);
/**
 * Rows that are looked at again at most: a lag makes the last seconds of a run look lost, some hundred rows. Where many
 * more are lost a few of them more or less change nothing, and each look costs a request.
 */
const LOOKED_AT_AGAIN = 1_000;
/** Lost rows that are held while later runs are read for them: a few megabytes. */
const HELD = 10_000;

export type VerifyOptions = LookBackOptions & {
	/** runs of the same target that began later, the oldest first */
	readonly laterRuns: () => AsyncIterable<LaterRun>;
	/** ends a wait */
	readonly signal: AbortSignal;
};

/**
 * Reads back the picked rows of a run, and tells each once. Those that look lost come last: first it is seen whether a
 * later run wrote their documents again, then they are looked at again, all together.
 */
export async function* verifyRun(run: RecordedRun, picked: PickedRows, options: VerifyOptions): AsyncGenerator<Judged> {
	const doubtful = new Map<number, Judged>();
	const settle = async function* (lost: readonly Judged[]): AsyncGenerator<Judged> {
		const again = await writtenAgain(lost, options.laterRuns);
		for (const judged of lost) {
			const laterRun = again.get(judged.row);
			if (laterRun !== undefined) yield { ...judged, result: "changed_since", laterRun };
			else if (doubtful.size < LOOKED_AT_AGAIN) doubtful.set(judged.row, judged);
			else yield judged;
		}
	};
	let lost: Judged[] = [];
	for await (const judged of lookBack(run, picked, options)) {
		if (judged.result !== "lost") {
			yield judged;
			continue;
		}
		lost.push(judged);
		if (lost.length < HELD) continue;
		yield* settle(lost);
		lost = [];
	}
	if (lost.length > 0) yield* settle(lost);
	for (const lag of WAITS) {
		if (doubtful.size === 0) return;
		await options.clock.sleep(lag, options.signal);
		const rows = { has: (row: number) => doubtful.has(row), byDataset: countByDataset(doubtful.values()) };
		for await (const judged of lookBack(run, rows, options)) {
			if (judged.result === "lost") continue;
			doubtful.delete(judged.row);
			yield judged;
		}
	}
	yield* doubtful.values();
}
