import type { ActivityState } from "../../activity.ts";
import { parseJson } from "../../json/parse-json.ts";
import { isJsonObject, type JsonObject } from "../../json/values.ts";

/** The figures of a short part of a run, mostly one second: a line of `series.jsonl`. */
export type SeriesPoint = {
	/** its end, in epoch seconds */
	readonly t: number;
	/** the number of seconds that it covers */
	readonly s: number;
	/** requests that went out in it */
	readonly sent: number;
	/** rows that were settled until `t`, over all executions of the run, and how many of them had failed */
	readonly done: number;
	readonly failed: number;
	/** percentiles of the requests that ended in it, in milliseconds; null where none did */
	readonly p50: number | null;
	readonly p95: number | null;
	readonly state: ActivityState;
	/** requests in flight at `t` */
	readonly in_flight: number;
	/** requests a second that the user allows; null for no cap */
	readonly cap: number | null;
	/** requests a second that may start, where the run has lowered its rate */
	readonly rate?: number;
	/** the causes that made the run slower in it, with their seconds; names as in the summary */
	readonly slow?: Readonly<Record<string, number>>;
	/** rows that failed in it, by the code of their error */
	readonly errors?: Readonly<Record<string, number>>;
};

/** The importance of each state for a part of a run: the most important one is kept. */
const WEIGHTS: Readonly<Record<ActivityState, number>> = {
	outage: 8,
	paused: 7,
	waiting: 6,
	slowed: 5,
	stopping: 4,
	verifying: 3,
	running: 2,
	reading: 1,
	checking: 0,
};

export function heavierState(one: ActivityState, other: ActivityState): ActivityState {
	return WEIGHTS[one] >= WEIGHTS[other] ? one : other;
}

function isState(value: unknown): value is ActivityState {
	return typeof value === "string" && Object.hasOwn(WEIGHTS, value);
}

/** A line without its end. */
export function pointLine(point: SeriesPoint): string {
	return JSON.stringify(point);
}

/** Reads a line. @returns undefined where it was cut off, or is none of ours */
export function readPoint(line: string): SeriesPoint | undefined {
	const value = parsed(line);
	if (!isJsonObject(value)) return undefined;
	const { t, s, sent, done, failed, p50 = null, p95 = null, in_flight: inFlight, cap = null, rate } = value as Members;
	const { state } = value as Members;
	if (!isCount(t) || !isCount(s) || !isCount(sent) || !isCount(done) || !isCount(failed)) return undefined;
	if (!isCount(inFlight) || !isCountOrNull(p50) || !isCountOrNull(p95) || !isCountOrNull(cap)) return undefined;
	if (!isState(state)) return undefined;
	const [slow, errors] = [countsOf(value["slow"]), countsOf(value["errors"])];
	return {
		t,
		s,
		sent,
		done,
		failed,
		p50,
		p95,
		state,
		in_flight: inFlight,
		cap,
		...(isCount(rate) ? { rate } : {}),
		...(slow === undefined ? {} : { slow }),
		...(errors === undefined ? {} : { errors }),
	};
}

type Members = { readonly [key: string]: unknown };

function parsed(line: string): unknown {
	try {
		return parseJson(line);
	} catch {
		return undefined;
	}
}

function isCount(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isCountOrNull(value: unknown): value is number | null {
	return value === null || isCount(value);
}

function countsOf(value: JsonObject[string] | undefined): Record<string, number> | undefined {
	if (!isJsonObject(value)) return undefined;
	return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => isCount(entry[1])));
}
