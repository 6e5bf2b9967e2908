import pLimit from "p-limit";
import { AutoConcurrency } from "./rate/concurrency.ts";
import { type Cooldown, MAX_WAIT } from "./rate/cooldown.ts";
import { Shutdown } from "./stop/shutdown.ts";
import { MAX_CONCURRENCY } from "./rate/concurrency-search.ts";
import type { MaxErrors } from "./stop/limits.ts";
import type { Operation } from "./operations/operation.ts";
import { timeIsUp } from "./stop/reasons.ts";
import { SendQueue } from "./rate/send-queue.ts";
import { RowAttempts } from "./attempts.ts";
import type { Clock, Journal, Limiter, Stop, Work } from "./types.ts";

/**
 * Rows taken up and not settled, waiting retries included, for each that may be in flight; a chunk comes on top.
 * An outage must not swallow a manifest.
 */
const OPEN_ROWS = 4;

export type RunOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	readonly journal: Journal<Item>;
	readonly limiter: Limiter;
	/** that of the whole process */
	readonly cooldown: Cooldown;
	readonly clock: Clock;
	/** requests a second, undefined for no cap: what `auto` concurrency goes by, and a lowered rate comes back to */
	readonly rate: number | undefined;
	readonly concurrency: number | "auto";
	/** attempts for one row, the first included; those that an outage or a request to slow down costs do not count */
	readonly attempts: number;
	readonly maxErrors: MaxErrors | undefined;
	/** the longest Retry-After that is waited for, in milliseconds; five minutes unless given */
	readonly maxWait?: number | undefined;
	/**
	 * how long the service may be gone, in milliseconds; a quarter of an hour unless given. Given, it holds for the first
	 * answer too, which is otherwise waited for half a minute at most
	 */
	readonly maxOutage?: number | undefined;
	/** milliseconds after which nothing new is begun */
	readonly maxDuration?: number | undefined;
	/** aborted with a `Stop` when the user wants the run to end */
	readonly signal: AbortSignal;
	/** cuts the requests in flight off; their rows stay pending */
	readonly abandon: () => void;
	/** called after each settled row */
	readonly onSettled?: () => void;
	/** takes a sentence for the user: an outage began, or is over */
	readonly onNote?: (text: string) => void;
};

/**
 * Works through chunks of rows: each row ends in one record of the journal, or stays pending when the run stops.
 *
 * A failed row is an outcome, not an exception. A chunk is the unit of reading, never a barrier: the next is read as
 * soon as fewer rows wait than are in flight. Retry is outside and pace inside: a waiting retry holds no slot.
 *
 * @returns why the run stopped early, or undefined when every row was settled
 * @throws what the manifest or the journal threw, after the rows in flight have been recorded
 */
export async function runRows<Item extends Work>(
	chunks: AsyncIterable<readonly Item[]>,
	options: RunOptions<Item>,
): Promise<Stop | undefined> {
	const { clock, maxWait = MAX_WAIT, maxOutage, maxDuration = Number.POSITIVE_INFINITY } = options;
	const auto = new AutoConcurrency(options.rate);
	const isAuto = options.concurrency === "auto";
	const limit = pLimit(options.concurrency === "auto" ? auto.rows : options.concurrency);
	const requests = pLimit(options.concurrency === "auto" ? auto.requests : options.concurrency);
	let open = 0;
	let wake = (): void => undefined;
	const news = (): Promise<void> => new Promise((resolve) => (wake = resolve));
	const shutdown = new Shutdown({ clock, user: options.signal, abandon: options.abandon, onEnd: () => wake() });
	const { signal } = shutdown;
	const queue = new SendQueue({
		limiter: options.limiter,
		cooldown: options.cooldown,
		clock,
		rate: options.rate,
		maxOutage,
		maxWait,
		inFlight: requests,
		onAnswer: (answer) => {
			if (!isAuto) return;
			auto.observe(answer);
			if (limit.concurrency !== auto.rows) limit.concurrency = auto.rows;
			if (requests.concurrency !== auto.requests) requests.concurrency = auto.requests;
		},
		onNote: (text) => options.onNote?.(text),
		onStop: (stop) => shutdown.end(stop),
	});
	const attempts = new RowAttempts<Item>({
		...options,
		shutdown,
		queue,
		// A place is free after each attempt, whether or not its row is settled: more may be read.
		inFlight: (attempt) => limit(attempt).finally(() => wake()),
		maxWait,
		maxDuration,
		patient: maxOutage !== undefined,
	});
	if (maxDuration < Number.POSITIVE_INFINITY) {
		void clock.sleep(maxDuration, signal).then(() => signal.aborted || shutdown.end(timeIsUp(maxDuration)));
	}
	const crowded = (): boolean =>
		limit.pendingCount >= limit.concurrency || open > OPEN_ROWS * Math.max(MAX_CONCURRENCY, limit.concurrency);

	try {
		for await (const chunk of chunks) {
			if (signal.aborted) break;
			for (const item of chunk) {
				open += 1;
				void attempts
					.settle(item)
					.catch((fault: unknown) => shutdown.fail(fault))
					.finally(() => {
						open -= 1;
						wake();
					});
			}
			while (crowded() && !signal.aborted) await news();
		}
	} catch (error) {
		// The manifest broke half-way: what was taken is finished, then the cause is told.
		shutdown.failAfterRows(error);
	}
	while (open > 0) await news();
	queue.close();
	return shutdown.finish(attempts.leftBehind);
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
