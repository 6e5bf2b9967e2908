import { describe, expect, it } from "vitest";
import { Exit } from "../../src/errors.ts";
import type { RestErrorKind } from "../../src/rest/errors.ts";
import { decide, type Try } from "../../src/run/retry.ts";
import { failure } from "./harness.ts";

const first: Try = { attempt: 1, attempts: 6, idempotent: true, answered: true, random: 0.5 };
const last: Try = { ...first, attempt: 6 };

describe("what to do about a request that did not succeed", () => {
	it.each<[string, RestErrorKind, Try, object]>([
		["a refusal fails the row at once", "rejected", first, { action: "fail" }],
		["an untrusted answer stops the run", "untrusted", first, { action: "stop", stop: { exit: Exit.untrusted } }],
		[
			"a page that is not the API stops the run",
			"not_the_api",
			first,
			{ action: "stop", stop: { exit: Exit.temporary } },
		],
		["what was not sent is sent again", "not_sent", first, { action: "retry", everyone: false }],
		["even where twice would harm", "not_sent", { ...first, idempotent: false }, { action: "retry", everyone: false }],
		[
			"what can't be sent stops the run, no row failed",
			"not_sent",
			last,
			{ action: "stop", stop: { exit: Exit.temporary } },
		],
		["what may have been applied is sent again", "ambiguous", first, { action: "retry", everyone: false }],
		["but not where twice would harm", "ambiguous", { ...first, idempotent: false }, { action: "fail" }],
		["and not for ever", "ambiguous", last, { action: "fail" }],
		[
			"a service that never answered stops the run, no row failed",
			"ambiguous",
			{ ...last, answered: false },
			{ action: "stop", stop: { exit: Exit.temporary } },
		],
		["a request to slow down holds for all", "throttled", first, { action: "retry", everyone: true }],
		[
			"even where twice would harm: it was not applied",
			"throttled",
			{ ...first, idempotent: false },
			{ action: "retry" },
		],
		["and not for ever", "throttled", last, { action: "fail" }],
	])("%s (%s)", (_, kind, state, decision) => {
		expect(decide(failure(kind), state)).toMatchObject(decision);
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
	] as const)("waits, %s for the time no. %d, anything up to %d ms", (kind, attempt, most) => {
		for (const random of [0, 0.25, 0.999]) {
			const decision = decide(failure(kind), { ...first, attempts: Infinity, attempt, random });
			expect(decision).toMatchObject({ action: "retry", wait: random * most });
		}
	});

	it.each([
		[0, 0, 0],
		[1_000, 0, 1_000],
		[1_000, 0.999, 1_099.9],
		[10_000, 0.5, 10_500],
		[300_000, 0.5, 301_000],
	])("never comes back before the %d ms that the service asks for (chance %d)", (retryAfter, random, wait) => {
		expect(decide(failure("throttled", { retryAfter }), { ...first, random })).toMatchObject({ wait });
	});

	it("stops rather than come back early where the service asks for more than five minutes", () => {
		expect(decide(failure("throttled", { retryAfter: 300_001 }), first)).toMatchObject({
			action: "stop",
			stop: { exit: Exit.temporary, text: expect.stringContaining("301 s") },
		});
	});

	it.each([
		["REDIRECT", "--base-url"],
		["TLS_UNTRUSTED", "--ca-file"],
		["KEY_REJECTED", "RAGTAG_API_KEY"],
		["ANOTHER", "proxy"],
	])("says what to set after %s: %s", (code, hint) => {
		const decision = decide(failure("untrusted", { code }), first);
		expect(decision).toMatchObject({ stop: { hint: expect.stringContaining(hint) } });
	});
});
