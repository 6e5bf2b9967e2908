import { Shutdown } from "./stop/shutdown.ts";
import { MAX_CONCURRENCY } from "../rates.ts";
import { type Group, mayHaveArrived } from "./operations/operation.ts";
import { SendQueue } from "./rate/send-queue.ts";
import { type NextStep, type OpenRow, openRow, RowAttempts, type RowsOptions } from "./attempts.ts";
import type { Stop, Work } from "./types.ts";

/**
 * Unsettled rows in memory for each place in flight, besides one chunk. Rows that wait for a retry count. So a run does
 * not read the whole manifest into memory during an outage.
 */
const OPEN_ROWS = 4;

export type RunOptions<Item extends Work> = RowsOptions<Item> & {
	readonly concurrency: number | "auto";
	/** aborted with a `Stop` when the user wants the run to end */
	readonly signal: AbortSignal;
	/** cuts off the requests in flight; their rows stay pending */
	readonly abandon: () => void;
	/** called after a row was settled */
	readonly onSettled?: () => void;
};

/**
 * Works through chunks of rows: each row ends in one record of the journal, or stays pending when the run stops.
 *
 * A failed row is an outcome, not an exception. A chunk is the unit of reading, never a barrier: the next is read as
 * soon as fewer rows wait than are in flight. A row holds its place until its outcome is durable, and none while it
 * waits for a retry.
 *
 * @returns why the run stopped early, or undefined when every row was settled
 * @throws the error of the manifest or the journal, after the rows in flight have been recorded
 */
export async function runChunks<Item extends Work>(
	chunks: AsyncIterable<readonly Item[]>,
	options: RunOptions<Item>,
): Promise<Stop | undefined> {
	const { rates, concurrency } = options;
	const { clock, controller, limiter, monitor } = rates;
	const places = (): number => (concurrency === "auto" ? controller.places(limiter.lead) : concurrency);
	const mostRows = (): number => (concurrency === "auto" ? rowsFor(places(), rates.rate) : concurrency);
	/** rows whose next attempt may begin, each with those of its group */
	const ready: (readonly OpenRow<Item>[])[] = [];
	/** rows that wait for others of their group */
	const waiting = new Map<Group<Item>, OpenRow<Item>[]>();
	/** rows in progress, and rows that are not settled */
	let [active, open] = [0, 0];
	let wake = (): void => undefined;
	const news = (): Promise<void> => new Promise((resolve) => (wake = resolve));
	let isReading = true;
	const add = (row: OpenRow<Item>): void => {
		const group = options.operation.groupOf?.(row);
		if (group === undefined) return void ready.push([row]);
		const rows = waiting.get(group) ?? [];
		waiting.set(group, rows);
		rows.push(row);
		if (rows.length < (group.most ?? Number.POSITIVE_INFINITY)) return;
		waiting.delete(group);
		ready.push(rows);
	};
	const endWaiting = (): void => {
		ready.push(...waiting.values());
		waiting.clear();
	};
	const shutdown = new Shutdown({
		clock,
		user: options.signal,
		abandon: options.abandon,
		onEnd: (why) => {
			monitor.stopping(why);
			// A run may end before it begins.
			if (waiting.size > 0) {
				endWaiting();
				begin();
			}
			wake();
		},
	});
	const { signal } = shutdown;
	const queue = new SendQueue({
		...options,
		maxInFlight: places,
		onEnd: () => begin(),
		onStop: (stop) => shutdown.end(stop),
	});
	controller.rowsBegin(clock.now());
	monitor.begin({
		outage: queue.outage,
		slowness: () => controller.slowness(clock.now()),
		concurrency: places,
		cap: () => rates.rate,
	});
	const end = (): void => {
		open -= 1;
		wake();
	};
	const attempts = new RowAttempts<Item>({ ...options, shutdown, queue });
	const ended = (row: OpenRow<Item>, next: NextStep): void => {
		active -= 1;
		if (next === 0) add(row);
		else if (typeof next === "number") void again(row, next);
		else {
			if (next === "settled") options.onSettled?.();
			else if (mayHaveArrived(row.memory)) monitor.inDoubt += 1;
			end();
		}
		if (!crowded()) wake();
		begin();
	};
	const begin = (): void => {
		// No other row can be sent before those that wait are settled.
		if (!isReading && active === 0 && ready.length === 0) endWaiting();
		while (active < mostRows()) {
			const rows = ready.shift();
			if (rows === undefined) break;
			active += rows.length;
			const endOf = attempts.begin(rows);
			for (const row of rows) void attempts.attempt(row, endOf).then((next) => ended(row, next));
		}
	};
	const again = async (row: OpenRow<Item>, wait: number): Promise<void> => {
		await clock.sleep(wait, signal);
		add(row);
		begin();
	};
	const crowded = (): boolean => ready.length >= mostRows() || open > OPEN_ROWS * Math.max(MAX_CONCURRENCY, mostRows());
	if (attempts.deadline < Number.POSITIVE_INFINITY) {
		const left = Math.max(0, attempts.deadline - clock.now());
		void clock.sleep(left, signal).then(() => signal.aborted || shutdown.end(attempts.timeIsUp));
	}

	try {
		for await (const chunk of chunks) {
			if (signal.aborted) break;
			open += chunk.length;
			options.operation.coming?.(chunk);
			for (const item of chunk) add(openRow(item));
			isReading = !crowded();
			begin();
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
	queue.outage.end();
	return shutdown.finish(attempts.leftBehind);
}

/** Rows that wait at the limiter besides those in flight, so that each turn finds a row: the fewest, and milliseconds of them. */
const WAITING = 4;
/** A record takes as long where a disk is slow. */
const WAITING_MS = 25;

/** Rows in progress for so many requests in flight. A row also waits for the cap and for its records. */
function rowsFor(places: number, rate: number | undefined): number {
	return rate === undefined ? MAX_CONCURRENCY : places + Math.ceil(Math.max(WAITING, (rate * WAITING_MS) / 1000));
}
