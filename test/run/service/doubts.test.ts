import { expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import { Doubts } from "../../../src/run/service/doubts.ts";

const of = (message: string, status = 200): RestError =>
	new RestError(message, { kind: "contradiction", code: "CODE_100", status });
const verb = of("host answered code 100 \"<MethodNotAllowed '405: Method Not Allowed'>\"");

it("rows that fail alike ask once a minute: a code 100 may be about its row alone", () => {
	const doubts = new Doubts();
	const error = of("KeyError('x')");
	expect(doubts.isReason(error, 0)).toBe(true);
	doubts.confirmed(error, 0);
	expect(doubts.isReason(error, 59_999)).toBe(false);
	expect(doubts.isReason(error, 60_000)).toBe(true);
});

it.each([verb, of("no", 405)])("a wrong verb is asked about however lately that was: %s", (error) => {
	const doubts = new Doubts();
	doubts.confirmed(of("KeyError('x')"), 0);
	expect(doubts.isReason(error, 1)).toBe(true);
});

it("a server that answers 405 to rows and not to probes is asked three times, not once a row", () => {
	const doubts = new Doubts();
	for (let at = 0; at < 3; at += 1) {
		expect(doubts.isReason(verb, at)).toBe(true);
		doubts.confirmed(verb, at);
	}
	expect(doubts.isReason(verb, 3)).toBe(false);
	expect(doubts.isReason(verb, 60_003)).toBe(true);
	doubts.changed();
	expect(doubts.isReason(verb, 4)).toBe(true);
});
