import { setMaxListeners } from "node:events";
import pLimit from "p-limit";
import { Exit } from "../errors.ts";
import { RestError } from "../rest/errors.ts";
import { AutoConcurrency, MAX_CONCURRENCY } from "./concurrency.ts";
import { errorLimit, type MaxErrors, RefusedAlike } from "./limits.ts";
import type { Memory, Operation, Settled } from "./operations/operation.ts";
import { paced, Pause } from "./pace.ts";
import { decide } from "./retry.ts";
import type { Clock, Journal, Limiter, RowError, Stop, Work } from "./types.ts";

/** How long requests in flight may take to end once a run is to stop, in milliseconds. */
const DRAIN = 5_000;
/**
 * Rows taken up and not settled, waiting retries included, for each that may be in flight; a chunk comes on top.
 * An outage must not swallow a manifest.
 */
const OPEN_ROWS = 4;

export type RunOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	readonly journal: Journal<Item>;
	readonly limiter: Limiter;
	readonly clock: Clock;
	/** requests a second, undefined for no cap: what `auto` concurrency goes by */
	readonly rate: number | undefined;
	readonly concurrency: number | "auto";
	/** tries of one row, the first included */
	readonly attempts: number;
	readonly maxErrors: MaxErrors | undefined;
	/** aborted with a `Stop` when the user wants the run to end */
	readonly signal: AbortSignal;
	/** cuts the requests in flight off; their rows stay pending */
	readonly abandon: () => void;
	/** called after each settled row */
	readonly onSettled?: () => void;
};

/** A row that was taken up and is not settled. */
type OpenRow<Item> = {
	readonly item: Item;
	readonly memory: Memory;
	/** tries so far */
	attempt: number;
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
	const { operation, journal, clock, attempts, signal } = options;
	const auto = new AutoConcurrency(options.rate);
	const limit = pLimit(options.concurrency === "auto" ? auto.value : options.concurrency);
	const pause = new Pause(clock);
	const refused = new RefusedAlike();
	const halt = new AbortController();
	// Every row in flight listens to it: that is no leak to warn a user of.
	setMaxListeners(0, halt.signal);
	const faults: unknown[] = [];
	let stop: Stop | undefined;
	let answered = false;
	let abandoned = false;
	let open = 0;
	let wake = (): void => undefined;

	const send = paced(options.limiter, pause, clock, (milliseconds) => {
		answered = true;
		auto.observe(milliseconds);
		if (options.concurrency === "auto" && limit.concurrency !== auto.value) limit.concurrency = auto.value;
	});
	const request = <Answer>(call: () => Promise<Answer>): Promise<Answer> => send(call, halt.signal);

	const end = (why?: Stop): void => {
		stop ??= why;
		if (!halt.signal.aborted) halt.abort(why);
		wake();
	};
	const break_ = (error: unknown): void => {
		faults.push(error);
		end();
	};
	const onSignal = (): void => end(stopOf(signal.reason));
	signal.addEventListener("abort", onSignal, { once: true });
	if (signal.aborted) onSignal();

	const fail = async ({ item, memory, attempt }: OpenRow<Item>, error: RowError): Promise<void> => {
		const documentId = memory.stored?.id ?? item.documentId;
		await journal.record({ item, status: "failed", documentId, error, attempts: attempt });
		options.onSettled?.();
	};
	/** A row that the run's stop leaves as it is: pending, unless running it again would store its file again. */
	const leave = async (row: OpenRow<Item>): Promise<undefined> => {
		const { stored } = row.memory;
		if (stored === undefined) return;
		const text = `stored as ${stored.id}, but the run stopped before its metadata was written`;
		await fail(row, { code: "METADATA_NOT_WRITTEN", text });
	};
	/** What a failed try leads to: the wait before the next, or undefined when there is none. */
	const afterFailure = async (row: OpenRow<Item>, error: unknown): Promise<number | undefined> => {
		// A request that was cut off or never started says nothing about its row.
		if (abandoned || (halt.signal.aborted && error === halt.signal.reason)) return await leave(row);
		if (!(error instanceof RestError)) throw error;
		answered ||= error.status !== undefined;
		const decision = decide(error, {
			attempt: row.attempt,
			attempts,
			idempotent: true,
			answered,
			random: clock.random(),
		});
		if (decision.action === "stop") {
			end(decision.stop);
			return await leave(row);
		}
		if (decision.action === "retry") {
			if (decision.everyone) pause.extend(decision.wait);
			return decision.wait;
		}
		const failure = { code: error.code, text: failureText(error, row.attempt) };
		await fail(row, failure);
		const alike = options.maxErrors === undefined ? refused.failed(failure) : undefined;
		const limited = alike ?? errorLimit(options.maxErrors, journal.totals());
		if (limited !== undefined) end(limited);
		return undefined;
	};

	/** One try of one row, with its record. Resolves with the wait before the next try, or undefined when it is over. */
	const tryRow = async (row: OpenRow<Item>): Promise<number | undefined> => {
		if (halt.signal.aborted) return await leave(row);
		row.attempt += 1;
		let settled: Settled;
		try {
			settled = await operation(row.item, request, row.memory);
		} catch (error) {
			return await afterFailure(row, error);
		}
		refused.succeeded();
		await journal.record({ item: row.item, ...settled, attempts: row.attempt });
		options.onSettled?.();
		return undefined;
	};
	const settle = async (item: Item): Promise<void> => {
		const row: OpenRow<Item> = { item, memory: {}, attempt: 0 };
		for (;;) {
			const wait = await limit(tryRow, row);
			// The slot is free now, whether or not the row is settled: more may be read.
			wake();
			if (wait === undefined) return;
			await clock.sleep(wait, halt.signal);
		}
	};
	const crowded = (): boolean =>
		limit.pendingCount >= limit.concurrency || open > OPEN_ROWS * Math.max(MAX_CONCURRENCY, limit.concurrency);

	try {
		for await (const chunk of chunks) {
			if (halt.signal.aborted) break;
			for (const item of chunk) {
				open += 1;
				void settle(item)
					.catch(break_)
					.finally(() => {
						open -= 1;
						wake();
					});
			}
			while (crowded() && !halt.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
		}
	} catch (error) {
		// The manifest broke half-way: what was taken is finished, then the cause is told.
		faults.push(error);
	}
	while (open > 0 && !halt.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
	if (open > 0) {
		const drained = new AbortController();
		void clock.sleep(DRAIN, drained.signal).then(() => {
			if (drained.signal.aborted) return;
			abandoned = true;
			options.abandon();
		});
		while (open > 0) await new Promise<void>((resolve) => (wake = resolve));
		drained.abort();
	}
	signal.removeEventListener("abort", onSignal);
	if (faults.length > 0) throw faults[0];
	return stop;
}

function failureText(error: RestError, attempt: number): string {
	return attempt > 1 ? `${error.message} (after ${attempt} tries)` : error.message;
}

function stopOf(why: unknown): Stop {
	if (typeof why === "object" && why !== null && "exit" in why && "text" in why && typeof why.text === "string") {
		const known = Object.values(Exit).find((code) => code === why.exit);
		const hint = "hint" in why && typeof why.hint === "string" ? { hint: why.hint } : {};
		if (known !== undefined) return { exit: known, text: why.text, ...hint };
	}
	return { exit: Exit.interrupted, text: "stopped" };
}
