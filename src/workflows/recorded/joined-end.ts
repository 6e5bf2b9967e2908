import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ShardRun } from "../../run/recorded/shard-runs.ts";
import { condensed } from "../../run/series/condense.ts";
import { joinSeries } from "../../run/series/join.ts";
import { pointLine } from "../../run/series/point.ts";
import { MOST_POINTS, readSeries, SERIES_FILE } from "../../run/series/series-file.ts";
import { readPrintedEnd } from "./printed-end.ts";

/** What the summaries of shards say together. */
type JoinedEnd = {
	/** whether every shard that updated or uploaded anything saw its updates arrive, and there is one */
	readonly verified: boolean;
	/** whether they had one cap together */
	readonly isCapShared: boolean;
};

/** A shard without a summary, such as one of 0.1.0, has seen nothing and has shared nothing. */
export async function joinedEnd(whole: readonly ShardRun[]): Promise<JoinedEnd> {
	const ends = await Promise.all(
		whole.map(async ({ folder, recorded }) => {
			const { updated, uploaded } = recorded.state.totals();
			return { wrote: updated + uploaded > 0, end: await readPrintedEnd(folder) };
		}),
	);
	const writers = ends.filter(({ wrote }) => wrote);
	return {
		verified: writers.length > 0 && writers.every(({ end }) => end?.isVerified === true),
		isCapShared: writers.every(({ end }) => end?.isCapShared === true),
	};
}

/**
 * Writes the series of the merged run into its folder, second by second of the machines' clocks; nothing where no shard has one.
 *
 * @throws an error of the storage
 */
export async function writeJoinedSeries(whole: readonly ShardRun[], isCapShared: boolean, to: string): Promise<void> {
	const parts = await Promise.all(whole.map(({ folder }) => readSeries(join(folder, SERIES_FILE))));
	const points = condensed(joinSeries(parts, isCapShared), MOST_POINTS);
	if (points.length === 0) return;
	const text = points.map((point) => `${pointLine(point)}\n`).join("");
	await writeFile(join(to, SERIES_FILE), text, { mode: 0o600 });
}
