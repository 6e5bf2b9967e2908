import { expect } from "vitest";
import { RestError, type RestErrorKind } from "../../src/rest/errors.ts";
import { ratesOf, type TestLimiter } from "./rates.ts";
import type { Operation } from "../../src/run/operations/operation.ts";
import { type RunOptions, runChunks } from "../../src/run/rows.ts";
import { noOutcomes } from "../../src/outcomes.ts";
import { type Journal, type Outcome, type Stop, totalsOf, type Work } from "../../src/run/types.ts";
import { fakeApi } from "./fake-api.ts";
import { FakeClock } from "./fake-clock.ts";

export function work(index: number): Work {
	return { index, line: index + 2, datasetId: "set", documentId: `doc-${index}` };
}

/** Chunks of `size` rows, `count` rows in all; tells how many were read. */
export async function* chunksOf(count: number, size: number, onRead?: (rows: number) => void): AsyncGenerator<Work[]> {
	for (let start = 0; start < count; start += size) {
		const chunk = Array.from({ length: Math.min(size, count - start) }, (_, place) => work(start + place));
		onRead?.(start + chunk.length);
		yield chunk;
	}
}

export function failure(
	kind: RestErrorKind,
	more: { code?: string; retryAfter?: number; status?: number } = {},
): RestError {
	return new RestError(`it was ${kind}`, { kind, code: more.code ?? kind.toUpperCase(), ...more });
}

/** One request that takes that long and then succeeds, or fails with what `call` throws. */
export function updating(call: (item: Work) => unknown): Operation<Work> {
	return async (item, request) => {
		await request(async () => await call(item));
		return { status: "updated", documentId: item.documentId };
	};
}

/** A service whose flavour is known. */
const api = fakeApi([], {});
const known: RunOptions<Work>["service"] = { known: async () => api, redetect: async () => false };

export type Run = {
	readonly clock: FakeClock;
	readonly outcomes: Outcome<Work>[];
	readonly journal: Journal;
	readonly user: AbortController;
	readonly done: Promise<Stop | undefined>;
};

/** A run of `rows` rows in chunks of ten, started; its time passes only by its clock. */
export function start(
	operation: Operation<Work>,
	{ rows = 10, clock = new FakeClock(), rate, limiter, ...more }: Partial<RunOptions<Work>> & StartOptions = {},
): Run {
	const outcomes: Outcome<Work>[] = [];
	const journal = journalOf(rows, outcomes);
	const user = new AbortController();
	const done = runChunks(more.chunks ?? chunksOf(rows, 10), {
		operation,
		service: known,
		journal,
		rates: ratesOf(clock, rate, limiter),
		concurrency: 4,
		attempts: 6,
		maxErrors: undefined,
		signal: user.signal,
		abandon: () => undefined,
		...more,
	});
	done.catch(() => undefined);
	return { clock, outcomes, journal, user, done };
}

/** A journal in memory. A row that is settled twice ends the run with a fault. */
function journalOf(rows: number, outcomes: Outcome<Work>[]): Journal {
	const counts = noOutcomes();
	const settled = new Set<number>();
	let attempts = 0;
	return {
		async record(outcome) {
			const { index, line } = outcome.item;
			if (settled.has(index)) throw new Error(`the row of line ${line} was settled twice`);
			settled.add(index);
			counts[outcome.status] += 1;
			attempts += outcome.attempts;
			outcomes.push(outcome);
		},
		totals: () => totalsOf({ rows, invalid: 0, duplicateSkipped: 0 }, counts, attempts),
	};
}

/** Every row is in exactly one count of the journal, and was recorded once at most. */
export function expectAccounted({ journal, outcomes }: Run, rows: number): void {
	const { attempts: _, rows: all, ...counts } = journal.totals();
	expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(rows);
	expect([all, new Set(outcomes.map(({ item }) => item.index)).size]).toEqual([rows, outcomes.length]);
	expect(counts.pending).toBeGreaterThanOrEqual(0);
}

/** `rate`: requests a second, undefined for no cap */
type StartOptions = {
	rate?: number | undefined;
	rows?: number;
	clock?: FakeClock;
	limiter?: TestLimiter;
	chunks?: AsyncIterable<readonly Work[]>;
};
