import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import * as v from "valibot";
import { type Activity, ACTIVITY_STATES } from "../../activity.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { countSettled } from "../../outcomes.ts";
import type { Latencies } from "../rate/slow-seconds.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Totals } from "../types.ts";

const COUNT = v.pipe(v.number(), v.finite(), v.minValue(0));

const POINT = v.object({
	/** its end, in epoch seconds */
	t: COUNT,
	/** the number of seconds that it covers */
	s: COUNT,
	/** requests that went out in it */
	sent: COUNT,
	/** rows that were settled until `t`, over all executions of the run, and how many of them had failed */
	done: COUNT,
	failed: COUNT,
	/** percentiles of the requests that ended in it, in milliseconds; null where none did */
	p50: v.nullable(COUNT),
	p95: v.nullable(COUNT),
	state: v.picklist(ACTIVITY_STATES),
	/** requests in flight at `t` */
	in_flight: COUNT,
	/** requests a second that the user allows; null for no cap */
	cap: v.nullable(COUNT),
	/** requests a second that may start, where the run has lowered its rate */
	rate: v.optional(COUNT),
});

/** The figures of a short part of a run, mostly one second: a line of `series.jsonl`. */
export type SeriesPoint = Readonly<v.InferOutput<typeof POINT>>;

/** @returns undefined for a line that was cut off, or is none of ours */
function readPoint(line: string): SeriesPoint | undefined {
	const { success, output } = v.safeParse(POINT, jsonObjectOf(line));
	return success ? output : undefined;
}

/** Milliseconds are enough: sums of binary fractions would have many digits. */
function rounded(seconds: number): number {
	return Math.round(seconds * 1000) / 1000;
}

/** One line a second, in the folder of a run. */
export const SERIES_FILE = "series.jsonl";

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MODE = 0o600;

/** Begins a series, or goes on with that of a resumed run: the process before may have been killed within a line. */
export function beginSeries(path: string): void {
	const text = textOf(path);
	append(path, text === "" || text.endsWith("\n") ? "" : "\n");
}

/** The file is not synced: a loss of power may cost its last seconds, and a line that was cut off is skipped when it is read. */
export function appendPoint(path: string, point: SeriesPoint): void {
	append(path, `${JSON.stringify(point)}\n`);
}

function append(path: string, text: string): void {
	const file = openSync(path, FLAGS, MODE);
	try {
		writeFileSync(file, text);
	} finally {
		closeSync(file);
	}
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
		readonly sentInAll: number;
		readonly inFlight: number;
		current(): Activity | undefined;
		readonly latencies: Pick<Latencies, "take">;
	};
	readonly journal: { totals(): Totals };
	/** requests a second that the user allows; undefined for no cap */
	readonly cap: () => number | undefined;
};

/** Makes the points of a series: each covers the time since the previous one. */
export class Sampler {
	readonly #sampled: Sampled;
	#before: number;
	#since: number;

	/** @param now milliseconds on a monotonic clock */
	constructor(sampled: Sampled, now: number) {
		this.#sampled = sampled;
		this.#before = sampled.monitor.sentInAll;
		// Those of before belong to no point.
		sampled.monitor.latencies.take();
		this.#since = now;
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
		const sent = monitor.sentInAll;
		const { p50, p95 } = monitor.latencies.take();
		const lowered = monitor.current()?.rate?.now;
		const point: SeriesPoint = {
			t: rounded(t),
			s: rounded(seconds),
			sent: sent - this.#before,
			done: countSettled(totals),
			failed: totals.failed,
			p50,
			p95,
			// A run that is sampled has begun.
			state: monitor.current()?.state ?? "running",
			in_flight: monitor.inFlight,
			cap: cap() ?? null,
			...(lowered === undefined ? {} : { rate: Math.round(lowered * 10) / 10 }),
		};
		this.#before = sent;
		this.#since = now;
		return point;
	}
}
