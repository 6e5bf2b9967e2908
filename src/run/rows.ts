import pLimit, { type LimitFunction } from "p-limit";
import { AutoConcurrency } from "./rate/concurrency.ts";
import { type Cooldown, MAX_WAIT } from "./rate/cooldown.ts";
import { Shutdown } from "./stop/shutdown.ts";
import { MAX_CONCURRENCY } from "./rate/concurrency-search.ts";
import type { Answer } from "./rate/concurrency-window.ts";
import type { MaxErrors } from "./stop/limits.ts";
import type { Operation } from "./operations/operation.ts";
import { timeIsUp } from "./stop/reasons.ts";
import { SendQueue } from "./rate/send-queue.ts";
import { type OpenRow, RowAttempts } from "./attempts.ts";
import type { RunMonitor } from "./rate/run-monitor.ts";
import { RowQueue } from "./row-queue.ts";
import type { Clock, Journal, Limiter, Stop, Work } from "./types.ts";
import { Unsettled } from "./unsettled.ts";

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
	/** requests in flight at most with `auto`, at the present rate; 64 unless given */
	readonly mostInFlight?: () => number;
	/** whether the rate is found while the run goes on: then it falls by itself where the service asks for it */
	readonly isFound?: () => boolean;
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
	/** called after rows were settled */
	readonly onSettled?: () => void;
	/** takes a sentence for the user, when an outage begins or ends */
	readonly onNote?: (text: string) => void;
};

/**
 * Works through chunks of rows: each row ends in one record of the journal, or stays pending when the run stops.
 *
 * A failed row is an outcome, not an exception. A chunk is the unit of reading, never a barrier: the next is read as
 * soon as fewer rows wait than are in flight. A row holds its place in flight until its outcome is written, and none while
 * it waits for a retry.
 *
 * @returns why the run stopped early, or undefined when every row was settled
 * @throws the error of the manifest or the journal, after the rows in flight have been recorded
 */
export async function runChunks<Item extends Work>(
	chunks: AsyncIterable<readonly Item[]>,
	options: RunOptions<Item>,
): Promise<Stop | undefined> {
	const { clock, maxWait = MAX_WAIT, maxOutage, maxDuration = Number.POSITIVE_INFINITY } = options;
	const places = placesInFlight(options, () => begin());
	const { rows: limit } = places;
	let open = 0;
	let wake = (): void => undefined;
	const news = (): Promise<void> => new Promise((resolve) => (wake = resolve));
	let isReading = true;
	/** rows that wait until no other can be sent */
	const together: OpenRow<Item>[] = [];
	const releaseTogether = (): void => {
		for (const row of together.splice(0)) rows.addAgain(row);
	};
	const shutdown = new Shutdown({
		clock,
		user: options.signal,
		abandon: options.abandon,
		onEnd: (why) => {
			options.monitor.stopping(why);
			releaseTogether();
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
		...(options.isFound === undefined ? {} : { isFound: options.isFound }),
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
	const end = (rows: number): void => {
		open -= rows;
		wake();
	};
	const unsettled = new Unsettled(end, (fault) => shutdown.fail(fault), options.onSettled);
	const attempts = new RowAttempts<Item>({
		...options,
		shutdown,
		queue,
		onWritten: (recorded) => unsettled.add(recorded),
		maxWait,
		maxDuration,
		patient: maxOutage !== undefined,
	});
	const rows = new RowQueue<Item>({ operation: options.operation, rate: options.rate, onReady: () => begin() });
	/** Works through rows until none is ready, or there are more such loops than places. */
	const work = async (): Promise<void> => {
		while (limit.activeCount <= limit.concurrency) {
			const row = rows.next();
			if (row === undefined) return;
			const next = await attempts.attempt(row);
			if (typeof next === "number") void again(row, next);
			else if (next === "together") together.push(row);
			else if (next === "pending") end(1);
			if (!crowded()) wake();
		}
	};
	const begin = (): void => {
		const free = limit.concurrency - limit.activeCount - limit.pendingCount;
		// A loop that has just found no row still holds its place, so it is looked again when that is free.
		for (let loops = Math.min(free, rows.ready); loops > 0; loops--) void limit(work).then(begin);
		// No other row can be sent before those that wait for each other are settled.
		if (!isReading && rows.length === 0 && limit.activeCount + limit.pendingCount === 0) releaseTogether();
	};
	const again = async (row: OpenRow<Item>, wait: number): Promise<void> => {
		await clock.sleep(wait, signal);
		rows.addAgain(row);
	};
	const crowded = (): boolean =>
		rows.length >= limit.concurrency || open > OPEN_ROWS * Math.max(MAX_CONCURRENCY, limit.concurrency);
	if (maxDuration < Number.POSITIVE_INFINITY) {
		void clock.sleep(maxDuration, signal).then(() => signal.aborted || shutdown.end(timeIsUp(maxDuration)));
	}

	try {
		for await (const chunk of chunks) {
			if (signal.aborted) break;
			isReading = false;
			open += chunk.length;
			rows.add(chunk);
			while (crowded() && !signal.aborted) await news();
			isReading = true;
		}
	} catch (error) {
		// The manifest failed half-way: the rows that were read are finished, then the error is thrown.
		shutdown.failAfterRows(error);
	}
	isReading = false;
	begin();
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
function placesInFlight(
	{
		concurrency,
		rate,
		limiter,
		mostInFlight,
	}: Pick<RunOptions<Work>, "concurrency" | "rate" | "limiter" | "mostInFlight">,
	onMore: () => void,
): Places {
	if (concurrency !== "auto") {
		return { rows: pLimit(concurrency), requests: () => concurrency, onAnswer: () => undefined };
	}
	const auto = new AutoConcurrency(rate, () => limiter.lead ?? 0, mostInFlight);
	const rows = pLimit(auto.rows);
	const onAnswer = (answer: Answer): void => {
		auto.observe(answer);
		if (rows.concurrency === auto.rows) return;
		rows.concurrency = auto.rows;
		onMore();
	};
	return { rows, requests: () => auto.requests, onAnswer };
}
