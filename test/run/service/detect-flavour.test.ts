import { expect, test, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { flavours } from "../../../src/rest/flavours.ts";
import { requireCall, Redetection } from "../../../src/run/service/detect-flavour.ts";
import { direct, fakeApi } from "../fake-api.ts";
import { RestError } from "../../../src/rest/errors.ts";

test("a service without a call ends the command with exit 2, and other services do not", async () => {
	const ends = await Promise.all(
		flavours.map(async (flavour) => {
			const api = fakeApi([], { dialect: { flavour, form: "json" } });
			const service = { known: () => Promise.resolve(api) };
			const end = await requireCall({ service, request: direct }, "parse", "docs parse").catch(
				(error: unknown) => error,
			);
			return [flavour.name, end];
		}),
	);
	const refusal = expect.objectContaining({
		exit: Exit.usage,
		message: expect.stringContaining("docs parse: this service documents no such call"),
	});
	expect(Object.fromEntries(ends)).toEqual({
		"ragflow-1.0": undefined,
		"ragflow-put": undefined,
		"ragflow-patch": undefined,
		documented: refusal,
	});
});

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
