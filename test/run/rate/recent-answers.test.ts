import { expect, it } from "vitest";
import { RecentAnswers } from "../../../src/run/rate/recent-answers.ts";

it.each([
	["a pause of this machine, which a run without a cap would take for a slow service", 13, false],
	["the service's own queue, which would grow without an end", 30, true],
])("answers at 1 ms, then later, are %s", (_, milliseconds, isQueue) => {
	const answers = new RecentAnswers(0);
	for (const [from, latency] of [
		[0, 1],
		[500, milliseconds],
	] as const) {
		for (let sent = from; sent < from + 400; sent += 2) {
			answers.sent(true);
			answers.add(sent, sent + latency);
		}
		answers.judged(from + 500);
	}
	expect(answers.queue > 0).toBe(isQueue);
});
