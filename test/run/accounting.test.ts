import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Exit } from "../../src/errors.ts";
import type { RestErrorKind } from "../../src/rest/errors.ts";
import type { Totals } from "../../src/run/types.ts";
import { FakeClock } from "./fake-clock.ts";
import { failure, start, updating } from "./harness.ts";

const KINDS: RestErrorKind[] = [
	"not_sent",
	"ambiguous",
	"throttled",
	"rejected",
	"contradiction",
	"untrusted",
	"not_the_api",
];

function sumOfOthers(totals: Totals): number {
	const { updated, unchanged, uploaded, removed, failed, invalid, duplicateSkipped, pending } = totals;
	return updated + unchanged + uploaded + removed + failed + invalid + duplicateSkipped + pending;
}

describe("a run of random answers", () => {
	it("settles each row at most once and counts all of them, however it ends", async () => {
		// Weighted towards success, so that runs get far before something stops them.
		const answer = fc.record({
			kind: fc.option(fc.constantFrom(...KINDS, "rejected", "ambiguous", "throttled"), { freq: 2 }),
			latency: fc.nat(500),
		});
		const answers = fc.array(answer, { minLength: 1, maxLength: 40 });
		const interrupt = fc.option(fc.nat(4_000), { freq: 1 });
		await fc.assert(
			fc.asyncProperty(
				answers,
				fc.nat(60),
				fc.integer({ min: 1, max: 8 }),
				interrupt,
				async (list, rows, concurrency, at) => {
					const clock = new FakeClock();
					let calls = 0;
					const operation = updating(async () => {
						const next = list[calls++ % list.length];
						await clock.sleep(next?.latency ?? 0);
						if (next?.kind) throw failure(next.kind, { code: `CODE_${calls}`, status: 200, retryAfter: 1_000 });
					});
					const maxDuration = at === null ? undefined : at * 2;
					const run = start(operation, { rows, concurrency, clock, attempts: 3, maxDuration });
					if (at !== null) void clock.sleep(at).then(() => run.user.abort({ exit: Exit.interrupted, text: "stopped" }));
					const stop = await clock.until(run.done);
					const totals = run.journal.totals();
					expect(sumOfOthers(totals)).toBe(rows);
					expect(totals.pending).toBeGreaterThanOrEqual(0);
					expect(new Set(run.outcomes.map(({ item }) => item.index)).size).toBe(run.outcomes.length);
					if (stop === undefined) expect(totals.pending).toBe(0);
					// Nothing is recorded after the end.
					await clock.pass(10_000_000);
					expect(run.journal.totals()).toEqual(totals);
				},
			),
			{ numRuns: 60 },
		);
	});

	it("fails no row because the service was away or busy for a while", async () => {
		// A row alone can't tell an outage from a fault of its own, so where answers are lost there are always several.
		const looks = fc.oneof(
			fc.record({ kind: fc.constant<RestErrorKind>("throttled"), concurrency: fc.integer({ min: 1, max: 32 }) }),
			fc.record({ kind: fc.constant<RestErrorKind>("ambiguous"), concurrency: fc.integer({ min: 4, max: 32 }) }),
		);
		const gone = fc.record({
			from: fc.integer({ min: 20, max: 250 }),
			// Ten minutes of refusals without a pause between them took three minutes of processor time.
			length: fc.integer({ min: 1, max: 60_000 }),
			refused: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
		});
		await fc.assert(
			fc.asyncProperty(gone, looks, fc.double({ min: 0, max: 0.99, noNaN: true }), async (...given) => {
				const [{ from, length, refused }, { kind, concurrency }, chance] = given;
				const clock = new FakeClock(chance);
				let calls = 0;
				const operation = updating(async () => {
					const now = clock.now();
					await clock.sleep(10);
					if (now < from || now >= from + length) return;
					if (refused[calls++ % refused.length] === true) throw failure("not_sent");
					throw failure(kind, { status: 503 });
				});
				const run = start(operation, { rows: 1_000, concurrency, clock });
				expect(await clock.until(run.done)).toBeUndefined();
				expect(run.journal.totals()).toMatchObject({ updated: 1_000, failed: 0, pending: 0 });
				expect(clock.sleeping).toBe(0);
			}),
			{ numRuns: 10 },
		);
	});
});
