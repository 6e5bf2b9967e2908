import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import * as v from "valibot";
import { ACTIVITY_STATES } from "../../activity.ts";
import { reason } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { countSettled } from "../../outcomes.ts";
import type { RateControl } from "../rate/rate-control.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Journal } from "../types.ts";

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

/** Milliseconds are enough: sums of binary fractions would have many digits. */
function rounded(seconds: number): number {
	return Math.round(seconds * 1000) / 1000;
}

/** One line a second, in the folder of a run. */
export const SERIES_FILE = "series.jsonl";

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MODE = 0o600;

/** The file is not synced: a loss of power may cost its last seconds, and a line that was cut off is skipped when it is read. */
function append(path: string, text: string): void {
	const file = openSync(path, FLAGS, MODE);
	try {
		writeFileSync(file, text);
	} finally {
		closeSync(file);
	}
}

/** The points of a run, in the order of their times of writing; none where it recorded none. Other lines are skipped. */
export async function readSeries(path: string): Promise<readonly SeriesPoint[]> {
	return textOf(path)
		.split("\n")
		.map(jsonObjectOf)
		.filter((point) => v.is(POINT, point));
}

function textOf(path: string): string {
	return readTextIfThere(path, constants.O_NOFOLLOW) ?? "";
}

const SECOND_MS = 1000;

/** Seconds that the last point covers at least. */
const LEAST = 0.001;

/** Share of a second by which a timer may be early. */
const EARLY = 0.1;

type Timers = { date(): Date; every(milliseconds: number, call: () => void): () => void };

/**
 * Appends a line a second to the series of a run, until the returned function is called, which may be called twice. A failed
 * write is reported once by `note`, and the run goes on without a series.
 */
export function recordSeries(
	path: string,
	{ rates, journal }: { readonly rates: RateControl; readonly journal: Pick<Journal, "totals"> },
	note: (text: string) => void,
	timers: Timers,
): () => void {
	const { monitor, clock } = rates;
	let isOver = false;
	let before = monitor.sentInAll;
	let since = clock.now();
	// Those of before belong to no point.
	monitor.latencies.take();
	const write = (text: () => string): void => {
		try {
			if (!isOver) append(path, text());
		} catch (error) {
			isOver = true;
			note(`The figures of this run are not recorded from here on: ${path}: ${reason(error)}`);
		}
	};
	const point = (now: number): SeriesPoint => {
		const totals = journal.totals();
		const sent = monitor.sentInAll;
		const { state, rate } = monitor.current() ?? {};
		const taken = {
			t: rounded(timers.date().getTime() / SECOND_MS),
			s: rounded((now - since) / SECOND_MS),
			sent: sent - before,
			done: countSettled(totals),
			failed: totals.failed,
			...monitor.latencies.take(),
			// A run that is sampled has begun.
			state: state ?? "running",
			in_flight: monitor.inFlight,
			cap: rates.rate ?? null,
			...(rate === undefined ? {} : { rate: Math.round(rate.now * 10) / 10 }),
		};
		[before, since] = [sent, now];
		return taken;
	};
	const take = (least: number): void => {
		const now = clock.now();
		if ((now - since) / SECOND_MS >= least) write(() => `${JSON.stringify(point(now))}\n`);
	};
	// The process before may have been killed within a line.
	write(() => (/[^\n]$/.test(textOf(path)) ? "\n" : ""));
	const cancel = timers.every(SECOND_MS, () => take(1 - EARLY));
	return () => {
		cancel();
		take(LEAST);
		isOver = true;
	};
}
