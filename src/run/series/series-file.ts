import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { countSettled } from "../../outcomes.ts";
import { writeWhole } from "../../write-whole.ts";
import type { Activity, ActivityState } from "../../activity.ts";
import type { Counters, Latencies } from "../rate/slow-seconds.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Totals } from "../types.ts";
import { halved, heavierState, readPoint, rounded, type SeriesPoint } from "./point.ts";

/** One line a second, in the folder of a run. */
export const SERIES_FILE = "series.jsonl";

/** Two hours in full resolution, about a megabyte. Beyond it, the resolution of the whole file is halved. */
export const MOST_POINTS = 7200;

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MODE = 0o600;

/**
 * The file of a series, to append to. It is not synced: a loss of power may cost its last seconds, and a line that was cut
 * off is skipped when the file is read.
 */
export class SeriesFile {
	readonly #path: string;
	readonly #most: number;
	#file: FileHandle;
	#points: number;
	#interval: number;

	private constructor(path: string, most: number, file: FileHandle, points: readonly SeriesPoint[]) {
		this.#path = path;
		this.#most = most;
		this.#file = file;
		this.#points = points.length;
		this.#interval = points.length > most / 2 ? intervalOf(points) : 1;
	}

	/** Opens the file of a run, which a resumed run has already. @param most points that it may hold */
	static async open(path: string, most = MOST_POINTS): Promise<SeriesFile> {
		const text = textOf(path);
		const file = await open(path, FLAGS, MODE);
		// The process before may have been killed within a line.
		if (text !== "" && !text.endsWith("\n")) await file.appendFile("\n");
		return new SeriesFile(path, most, file, pointsOf(text));
	}

	/** The number of seconds that a point covers. */
	get interval(): number {
		return this.#interval;
	}

	async append(point: SeriesPoint): Promise<void> {
		await this.#file.appendFile(`${JSON.stringify(point)}\n`);
		this.#points += 1;
		if (this.#points > this.#most) await this.#halve();
	}

	close(): Promise<void> {
		return this.#file.close();
	}

	async #halve(): Promise<void> {
		const half = halved(pointsOf(textOf(this.#path)));
		await writeWhole(this.#path, half.map((point) => `${JSON.stringify(point)}\n`).join(""), { isSynced: false });
		await this.#file.close();
		this.#file = await open(this.#path, FLAGS, MODE);
		this.#points = half.length;
		this.#interval *= 2;
	}
}

/** The points of a run, in the order of their times of writing; none where it recorded none. */
export async function readSeries(path: string): Promise<readonly SeriesPoint[]> {
	return pointsOf(textOf(path));
}

function pointsOf(text: string): SeriesPoint[] {
	return text
		.split("\n")
		.map(readPoint)
		.filter((point) => point !== undefined);
}

/** The resolution of a file that was halved before: a power of two, in seconds. */
function intervalOf(points: readonly SeriesPoint[]): number {
	const longest = points.reduce((most, { s }) => Math.max(most, s), 1);
	return 2 ** Math.floor(Math.log2(longest + 0.1));
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
	#state: ActivityState | undefined;
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

	/** Notes the state: a point that covers several seconds has the one that says most. @returns seconds since the last point */
	observe(now: number): number {
		const state = stateOf(this.#sampled);
		this.#state = this.#state === undefined ? state : heavierState(this.#state, state);
		return (now - this.#since) / 1000;
	}

	/** @param t epoch seconds */
	take(now: number, t: number): SeriesPoint {
		const seconds = this.observe(now);
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
			state: this.#state ?? stateOf(this.#sampled),
			in_flight: counters.inFlight,
			cap: cap() ?? null,
			...(lowered === undefined ? {} : { rate: Math.round(lowered * 10) / 10 }),
			...(slow.length === 0 ? {} : { slow: Object.fromEntries(slow) }),
			...(this.#errors.size === 0 ? {} : { errors: Object.fromEntries(this.#errors) }),
		};
		this.#before = counters;
		this.#since = now;
		this.#state = undefined;
		this.#errors.clear();
		return point;
	}
}

/** A run that is sampled has begun. */
function stateOf({ monitor }: Sampled): Activity["state"] {
	return monitor.current()?.state ?? "running";
}
