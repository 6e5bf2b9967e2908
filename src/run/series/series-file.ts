import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { countSettled } from "../../outcomes.ts";
import type { Activity } from "../../activity.ts";
import type { Counters, Latencies } from "../rate/slow-seconds.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Totals } from "../types.ts";
import { readPoint, rounded, type SeriesPoint } from "./point.ts";

/** One line a second, in the folder of a run. */
export const SERIES_FILE = "series.jsonl";

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MODE = 0o600;

/**
 * Opens the file of a series, to append to. It is not synced: a loss of power may cost its last seconds, and a line that was
 * cut off is skipped when the file is read. A resumed run has a file already.
 */
export async function openSeries(path: string): Promise<FileHandle> {
	const text = textOf(path);
	const file = await open(path, FLAGS, MODE);
	// The process before may have been killed within a line.
	if (text !== "" && !text.endsWith("\n")) await file.appendFile("\n");
	return file;
}

/** The lines of points, in the form of a series. */
export function seriesText(points: readonly SeriesPoint[]): string {
	return points.map((point) => `${JSON.stringify(point)}\n`).join("");
}

/** The points of a run, in the order of their times of writing; none where it recorded none. */
export async function readSeries(path: string): Promise<readonly SeriesPoint[]> {
	return textOf(path)
		.split("\n")
		.map(readPoint)
		.filter((point) => point !== undefined);
}

function textOf(path: string): string {
	return readTextIfThere(path, constants.O_NOFOLLOW) ?? "";
}

/** The sources of a point. Only figures that exist anyway are read. */
export type Sampled = {
	readonly monitor: {
		counters(): Counters;
		current(): Activity | undefined;
		readonly latencies: Pick<Latencies, "take">;
	};
	readonly journal: { totals(): Totals };
	/** requests a second that the user allows; undefined for no cap */
	readonly cap: () => number | undefined;
};

/** The most codes that a point names. A service with more in one second invents codes. */
const MOST_CODES = 20;
const OTHER_CODES = "OTHER";

/** Makes the points of a series: each covers the time since the previous one. */
export class Sampler {
	readonly #sampled: Sampled;
	#before: Counters;
	#since: number;
	readonly #errors = new Map<string, number>();

	/** @param now milliseconds on a monotonic clock */
	constructor(sampled: Sampled, now: number) {
		this.#sampled = sampled;
		this.#before = sampled.monitor.counters();
		// Those of before belong to no point.
		sampled.monitor.latencies.take();
		this.#since = now;
	}

	/** A row failed. */
	failed(code: string): void {
		const name = this.#errors.has(code) || this.#errors.size < MOST_CODES ? code : OTHER_CODES;
		this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
	}

	/** Seconds since the last point. */
	seconds(now: number): number {
		return (now - this.#since) / 1000;
	}

	/** @param t epoch seconds */
	take(now: number, t: number): SeriesPoint {
		const seconds = this.seconds(now);
		const { monitor, journal, cap } = this.#sampled;
		const totals = journal.totals();
		const counters = monitor.counters();
		const { p50, p95 } = monitor.latencies.take();
		const lowered = monitor.current()?.rate?.now;
		const slow = [...counters.slow]
			.map(([cause, ms]) => [cause, rounded((ms - (this.#before.slow.get(cause) ?? 0)) / 1000)] as const)
			.filter(([, each]) => each > 0);
		const point: SeriesPoint = {
			t: rounded(t),
			s: rounded(seconds),
			sent: counters.sent - this.#before.sent,
			done: countSettled(totals),
			failed: totals.failed,
			p50,
			p95,
			// A run that is sampled has begun.
			state: monitor.current()?.state ?? "running",
			in_flight: counters.inFlight,
			cap: cap() ?? null,
			...(lowered === undefined ? {} : { rate: Math.round(lowered * 10) / 10 }),
			...(slow.length === 0 ? {} : { slow: Object.fromEntries(slow) }),
			...(this.#errors.size === 0 ? {} : { errors: Object.fromEntries(this.#errors) }),
		};
		this.#before = counters;
		this.#since = now;
		this.#errors.clear();
		return point;
	}
}
