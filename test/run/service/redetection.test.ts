import { expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import { Redetection } from "../../../src/run/service/detect-flavour.ts";

const of = (message: string, status = 200): RestError =>
	new RestError(message, { kind: "contradiction", code: "CODE_100", status });
const verb = of("host answered code 100 \"<MethodNotAllowed '405: Method Not Allowed'>\"");

it("rows that fail alike cause one detection a minute: a code 100 may concern one row alone", () => {
	const doubts = new Redetection();
	const error = of("KeyError('x')");
	expect(doubts.isDue(error, 0)).toBe(true);
	doubts.confirmed(error, 0);
	expect(doubts.isDue(error, 59_999)).toBe(false);
	expect(doubts.isDue(error, 60_000)).toBe(true);
});

it.each([verb, of("no", 405)])("a wrong verb causes a detection at once: %s", (error) => {
	const doubts = new Redetection();
	doubts.confirmed(of("KeyError('x')"), 0);
	expect(doubts.isDue(error, 1)).toBe(true);
});

it("a server that answers 405 to rows and not to probes is probed three times, not once a row", () => {
	const doubts = new Redetection();
	for (let at = 0; at < 3; at += 1) {
		expect(doubts.isDue(verb, at)).toBe(true);
		doubts.confirmed(verb, at);
	}
	expect(doubts.isDue(verb, 3)).toBe(false);
	expect(doubts.isDue(verb, 60_003)).toBe(true);
	doubts.changed();
	expect(doubts.isDue(verb, 4)).toBe(true);
});
