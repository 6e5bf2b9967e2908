import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { DATABASE_AWAY, type RestErrorKind } from "../../../src/rest/errors.ts";
import { MAX_WAIT } from "../../../src/run/rate/cooldown.ts";
import { countFailure, decide } from "../../../src/run/retry/policy.ts";
import { failure } from "../harness.ts";

type FailedAttempt = Parameters<typeof decide>[1];

const first: FailedAttempt = {
	attempt: 1,
	counted: 0,
	notTheApi: 0,
	refused: 0,
	allowed: 6,
	idempotent: true,
	answered: true,
	succeeded: true,
	patient: false,
	outage: false,
	tooFast: false,
	othersSucceed: false,
	outageLeft: Infinity,
	timeLeft: Infinity,
	maxWait: MAX_WAIT,
	random: 0.5,
	now: Date.UTC(2025, 5, 1, 14, 0),
};

const last: FailedAttempt = { ...first, attempt: 6, counted: 5 };
const silent: FailedAttempt = { ...first, answered: false, succeeded: false };
const stop6 = { action: "stop", stop: { exit: Exit.temporary } };

/** What is done, what that counts as, for whom, and after how many milliseconds. */
function textOf(decision: ReturnType<typeof decide>): string {
	if (decision.action === "stop") return `stop ${decision.stop.exit}`;
	if (decision.action !== "retry") return decision.action;
	return `retry ${decision.counts} ${decision.everyone ? "everyone" : "row"} ${decision.wait}`;
}

const startingWith = (text: string): RegExp => new RegExp(`^${text}\\b`);

describe("a database that is away while its service answers", () => {
	const away = failure("ambiguous", { code: DATABASE_AWAY, status: 200 });
	it.each<[string, FailedAttempt, string]>([
		["costs a row no try", last, "retry nothing row"],
		["however long", { ...last, attempt: 99, outage: true }, "retry nothing row 0"],
		["but where other rows are written, it is this row's", { ...first, othersSucceed: true }, "retry attempt"],
		["and fails it at last: its lock is never given up", { ...last, othersSucceed: true }, "fail"],
		["is not asked twice for what would harm", { ...first, idempotent: false }, "fail"],
		["stops the run where nothing was ever answered", { ...silent, attempt: 6 }, "stop 6"],
	])("%s", (_, state, decision) => {
		expect(textOf(decide(away, state))).toMatch(startingWith(decision));
	});
});

describe("the decision after a failed request", () => {
	it.each<[string, RestErrorKind, FailedAttempt, string]>([
		["a refusal fails the row at once", "rejected", first, "fail"],
		["an untrusted answer stops the run", "untrusted", first, "stop 4"],
		["what the service can't do fails the row, as its flavour is known", "contradiction", first, "fail"],
		["a page that was never the API stops the run", "not_the_api", { ...first, succeeded: false }, "stop 6"],
		["a login page in the middle of a run may go away", "not_the_api", first, "retry nothing"],
		["even at the last try that counts", "not_the_api", last, "retry"],
		["and not at the third time", "not_the_api", { ...first, notTheApi: 2 }, "stop 6"],
		["what was not sent is sent again", "not_sent", first, "retry nothing row"],
		["even where twice would harm", "not_sent", { ...first, idempotent: false }, "retry nothing row"],
		["an outage costs a row no try, however long", "not_sent", { ...last, attempt: 99 }, "retry"],
		["what was never reached stops the run", "not_sent", { ...silent, attempt: 6 }, "stop 6"],
		["but not while tries are left", "not_sent", { ...silent, attempt: 5 }, "retry"],
		["nor where the user waits for it", "not_sent", { ...silent, attempt: 9, patient: true }, "retry"],
		["what may have been applied is sent again", "ambiguous", first, "retry attempt row"],
		["but not where twice would harm", "ambiguous", { ...first, idempotent: false }, "fail"],
		["and not for ever", "ambiguous", last, "fail"],
		["tries that an outage took do not count", "ambiguous", { ...first, attempt: 50, counted: 4 }, "retry"],
		["in an outage a lost answer costs a row no try", "ambiguous", { ...last, outage: true }, "retry nothing row 0"],
		["a service that never answered stops the run, no row failed", "ambiguous", { ...silent, attempt: 6 }, "stop 6"],
		[
			"where the user waits for it, it does not",
			"ambiguous",
			{ ...silent, attempt: 9, patient: true },
			"retry nothing",
		],
		["a request to slow down costs no try", "throttled", first, "retry nothing row"],
		[
			"while others succeed it is counted, as it may be about this row",
			"throttled",
			{ ...last, othersSucceed: true },
			"retry refusal row",
		],
		["and the row fails after thirty", "throttled", { ...first, othersSucceed: true, refused: 29 }, "fail"],
		["but not while no other succeeds", "throttled", { ...first, refused: 99 }, "retry"],
		["a 503 that means too fast is the same", "ambiguous", { ...last, tooFast: true }, "retry nothing"],
		["even where twice would harm: it was not applied", "throttled", { ...first, idempotent: false }, "retry"],
		["and costs a row no try", "throttled", last, "retry"],
		["a key that was accepted before is tried again", "doubted", last, "retry nothing row"],
		["and again while no other is accepted", "doubted", { ...last, attempt: 99, outage: true }, "retry nothing row 0"],
		["and counts where others are accepted", "doubted", { ...first, othersSucceed: true }, "retry attempt"],
		["so that it fails its row in the end, and not the run", "doubted", { ...last, othersSucceed: true }, "fail"],
		["but it is not sent again where twice would harm", "doubted", { ...first, idempotent: false }, "stop 4"],
	])("%s (%s)", (_, kind, state, decision) => {
		expect(textOf(decide(failure(kind), state))).toMatch(startingWith(decision));
	});

	it.each([
		["ambiguous", 1, 250],
		["ambiguous", 2, 500],
		["not_sent", 5, 4_000],
		["ambiguous", 8, 30_000],
		["ambiguous", 2_000, 30_000],
		["throttled", 1, 1_000],
		["throttled", 4, 8_000],
		["throttled", 9, 60_000],
	] as const)("waits, %s for attempt %d, anything up to %d ms", (kind, attempt, most) => {
		for (const random of [0, 0.25, 0.999]) {
			const decision = decide(failure(kind), { ...first, allowed: Infinity, attempt, random });
			expect(decision).toMatchObject({ action: "retry", wait: random * most });
		}
	});

	it.each([
		[0, 0, 0],
		[1_000, 0, 1_000],
		[1_000, 0.999, 1_099.9],
		[10_000, 0.5, 10_500],
		[300_000, 0.5, 301_000],
	])("never repeats before the %d ms that the service asked for (chance %d)", (retryAfter, random, wait) => {
		expect(decide(failure("throttled", { retryAfter }), { ...first, random })).toMatchObject({ wait });
	});

	it("counts a wait that the service asked for as a refusal of the row where others succeed", () => {
		const decision = decide(failure("throttled", { retryAfter: 1_000 }), { ...first, othersSucceed: true });
		expect(decision).toMatchObject({ action: "retry", everyone: true, counts: "refusal" });
	});

	it("stops rather than repeat early if the service asks for more than --max-wait, and says until when", () => {
		const text = "the service asks to wait 5m1s, until 2025-06-01T14:05:01Z; longer than --max-wait 5m0s";
		expect(decide(failure("throttled", { retryAfter: 301_000 }), first)).toMatchObject({
			action: "stop",
			stop: { exit: Exit.temporary, text },
		});
		expect(decide(failure("throttled", { retryAfter: 2_000 }), { ...first, maxWait: 1_999 })).toMatchObject(stop6);
	});

	it.each<[RestErrorKind, number | undefined, number, object]>([
		["throttled", 10_000, 10_499, { action: "leave", everyone: true }],
		["throttled", 10_000, 10_500, { action: "retry" }],
		["ambiguous", undefined, 124, { action: "leave", everyone: false }],
		["not_sent", undefined, 125, { action: "retry" }],
	])("begins no wait beyond --max-duration: %s, %s ms, with %d ms left", (kind, retryAfter, timeLeft, decision) => {
		const error = failure(kind, retryAfter === undefined ? {} : { retryAfter });
		expect(decide(error, { ...first, timeLeft })).toMatchObject(decision);
	});

	it("makes the last attempt when an outage reaches its limit, not later", () => {
		const state = { ...first, attempt: 8, outageLeft: 700 };
		expect(decide(failure("not_sent"), state)).toMatchObject({ action: "retry", wait: 700 });
		expect(decide(failure("not_sent"), { ...state, outageLeft: -1 })).toMatchObject({ action: "retry", wait: 0 });
	});

	it.each(["NOT_ARRIVED", "NOT_REMOVED", "REMOVED_MORE", "UNKNOWN_FLAVOUR"])(
		"does not repeat an answer that makes success meaningless: %s",
		(code) => {
			expect(decide(failure("not_the_api", { code }), first)).toMatchObject(stop6);
		},
	);

	it("repeats a conflict twice, and no other refusal", () => {
		const conflict = failure("rejected", { code: "HTTP_409", status: 409 });
		expect([1, 2, 3].map((attempt) => decide(conflict, { ...first, attempt }).action)).toEqual([
			"retry",
			"retry",
			"fail",
		]);
	});

	it.each([
		["REDIRECT", "--base-url"],
		["TLS_UNTRUSTED", "--ca-file"],
		["KEY_REJECTED", "RAGTAG_API_KEY"],
		["ANOTHER", "proxy"],
	])("names the setting that helps after %s: %s", (code, hint) => {
		const decision = decide(failure("untrusted", { code }), first);
		expect(decision).toMatchObject({ stop: { hint: expect.stringContaining(hint) } });
	});
});

it("a failed attempt counts towards what its decision says, and only then", () => {
	const attempts = { attempt: 1, counted: 0, notTheApi: 0, refused: 0 };
	for (const counts of ["nothing", "attempt", "refusal", "refusal"] as const) {
		countFailure(attempts, failure("ambiguous"), { action: "retry", wait: 0, everyone: true, counts });
	}
	countFailure(attempts, failure("not_the_api"), { action: "fail" });
	expect(attempts).toEqual({ attempt: 1, counted: 1, notTheApi: 1, refused: 2 });
});
