import pLimit, { type LimitFunction } from "p-limit";
import { AutoConcurrency } from "./rate/concurrency.ts";
import { type Cooldown, MAX_WAIT } from "./rate/cooldown.ts";
import { Shutdown } from "./stop/shutdown.ts";
import { type Answer, MAX_CONCURRENCY } from "./rate/concurrency-search.ts";
import type { MaxErrors } from "./stop/limits.ts";
import type { Operation } from "./operations/operation.ts";
import { timeIsUp } from "./stop/reasons.ts";
import { SendQueue } from "./rate/send-queue.ts";
import { RowAttempts } from "./attempts.ts";
import type { RunMonitor } from "./rate/run-monitor.ts";
import type { Clock, Journal, Limiter, Stop, Work } from "./types.ts";

/**
 * Unsettled rows in memory for each place in flight, besides one chunk. Rows that wait for a retry count. So a run does
 * not read the whole manifest into memory during an outage.
 */
const OPEN_ROWS = 4;

export type RunOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	readonly journal: Journal<Item>;
	readonly limiter: Limiter;
	/** the cooldown of the whole process */
	readonly cooldown: Cooldown;
	/** observes the state of the run and its causes */
	readonly monitor: RunMonitor;
	readonly clock: Clock;
	/** stands still while the run is paused; `clock` unless given */
	readonly unpaused?: Clock;
	/** requests a second, undefined for no cap. `auto` concurrency depends on it, and a lowered rate rises to it */
	readonly rate: () => number | undefined;
	/** calls back whenever that rate has changed, until the returned function is called */
	readonly onRateChange?: (call: () => void) => () => void;
	readonly concurrency: number | "auto";
	/** attempts of one row, the first included; an outage or a request to slow down costs none */
	readonly attempts: number;
	readonly maxErrors: MaxErrors | undefined;
	/** the longest Retry-After that is waited for, in milliseconds; five minutes unless given */
	readonly maxWait?: number | undefined;
	/**
	 * the longest outage, in milliseconds; a quarter of an hour unless given. If given, it also limits the wait for the
	 * first answer, which otherwise is half a minute
	 */
	readonly maxOutage?: number | undefined;
	/** milliseconds after which no further row starts */
	readonly maxDuration?: number | undefined;
	/** aborted with a `Stop` when the user wants the run to end */
	readonly signal: AbortSignal;
	/** cuts off the requests in flight; their rows stay pending */
	readonly abandon: () => void;
	/** called after each settled row */
	readonly onSettled?: () => void;
	/** takes a sentence for the user, when an outage begins or ends */
	readonly onNote?: (text: string) => void;
};

/**
 * Works through chunks of rows: each row ends in one record of the journal, or stays pending when the run stops.
 *
 * A failed row is an outcome, not an exception. A chunk is the unit of reading, never a barrier: the next is read as
 * soon as fewer rows wait than are in flight. A row that waits for its retry holds no place in flight.
 *
 * @returns why the run stopped early, or undefined when every row was settled
 * @throws the error of the manifest or the journal, after the rows in flight have been recorded
 */
export async function runChunks<Item extends Work>(
	chunks: AsyncIterable<readonly Item[]>,
	options: RunOptions<Item>,
): Promise<Stop | undefined> {
	const { clock, maxWait = MAX_WAIT, maxOutage, maxDuration = Number.POSITIVE_INFINITY } = options;
	const places = placesInFlight(options);
	const { rows: limit } = places;
	let open = 0;
	let wake = (): void => undefined;
	const news = (): Promise<void> => new Promise((resolve) => (wake = resolve));
	const shutdown = new Shutdown({
		clock,
		user: options.signal,
		abandon: options.abandon,
		onEnd: (why) => {
			options.monitor.stopping(why);
			wake();
		},
	});
	const { signal } = shutdown;
	const queue = new SendQueue({
		limiter: options.limiter,
		cooldown: options.cooldown,
		monitor: options.monitor,
		clock,
		unpaused: options.unpaused ?? clock,
		rate: options.rate,
		maxOutage,
		maxWait,
		maxInFlight: places.requests,
		onAnswer: places.onAnswer,
		onNote: (text) => options.onNote?.(text),
		onStop: (stop) => shutdown.end(stop),
	});
	const forget = options.onRateChange?.(() => queue.rateChanged());
	options.monitor.begin({
		outage: queue.outage,
		lowered: () => queue.lowered,
		concurrency: () => Math.min(limit.concurrency, places.requests()),
	});
	const attempts = new RowAttempts<Item>({
		...options,
		shutdown,
		queue,
		inFlight: limit,
		// A place is free after each attempt, whether or not its row is settled, so more rows may be read.
		onWait: () => wake(),
		maxWait,
		maxDuration,
		patient: maxOutage !== undefined,
	});
	if (maxDuration < Number.POSITIVE_INFINITY) {
		void clock.sleep(maxDuration, signal).then(() => signal.aborted || shutdown.end(timeIsUp(maxDuration)));
	}
	const onEnd = (): void => {
		open -= 1;
		wake();
	};
	const crowded = (): boolean =>
		limit.pendingCount >= limit.concurrency || open > OPEN_ROWS * Math.max(MAX_CONCURRENCY, limit.concurrency);

	try {
		for await (const chunk of chunks) {
			if (signal.aborted) break;
			for (const item of chunk) {
				open += 1;
				void attempts.settle(item).then(onEnd);
			}
			while (crowded() && !signal.aborted) await news();
		}
	} catch (error) {
		// The manifest failed half-way: the rows that were read are finished, then the error is thrown.
		shutdown.failAfterRows(error);
	}
	while (open > 0) await news();
	forget?.();
	queue.close();
	return shutdown.finish(attempts.leftBehind);
}

type Places = {
	/** rows in progress */
	readonly rows: LimitFunction;
	/** the most requests in flight */
	readonly requests: () => number;
	readonly onAnswer: (answer: Answer) => void;
};

/** The places for rows and for their requests. With `auto` their number follows the answers. */
function placesInFlight({ concurrency, rate }: Pick<RunOptions<Work>, "concurrency" | "rate">): Places {
	if (concurrency !== "auto") {
		return { rows: pLimit(concurrency), requests: () => concurrency, onAnswer: () => undefined };
	}
	const auto = new AutoConcurrency(rate);
	const rows = pLimit(auto.rows);
	const onAnswer = (answer: Answer): void => {
		auto.observe(answer);
		if (rows.concurrency !== auto.rows) rows.concurrency = auto.rows;
	};
	return { rows, requests: () => auto.requests, onAnswer };
}

/** Groups rows into chunks of at most `size`. The last may be shorter. */
export async function* chunked<Row>(rows: AsyncIterable<Row>, size: number): AsyncGenerator<Row[]> {
	let chunk: Row[] = [];
	for await (const row of rows) {
		chunk.push(row);
		if (chunk.length < size) continue;
		yield chunk;
		chunk = [];
	}
	if (chunk.length > 0) yield chunk;
}
