import { setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Cooldown } from "../../../src/run/rate/cooldown.ts";
import type { Limiter } from "../../../src/run/types.ts";
import { SendQueue, type SendQueueOptions } from "../../../src/run/rate/send-queue.ts";
import { FakeClock } from "../fake-clock.ts";
import { failure } from "../harness.ts";

const never = new AbortController().signal;
// As the run does for its own: all that waits listens to it.
setMaxListeners(0, never);

function queueOf(
	clock: FakeClock,
	limiter: Limiter,
	onAnswer: SendQueueOptions["onAnswer"] = () => undefined,
): SendQueue {
	return new SendQueue({
		limiter,
		cooldown: new Cooldown(clock),
		clock,
		rate: 100,
		maxOutage: undefined,
		maxWait: 300_000,
		inFlight: (send) => send(),
		onAnswer,
		onNote: () => undefined,
		onStop: () => undefined,
	});
}

/** A limiter that keeps everybody waiting for that long. */
const slow = (clock: FakeClock, milliseconds: number): Limiter => ({
	take: () => clock.sleep(milliseconds),
	close: () => undefined,
});

describe("what begins while a request waits for its token holds for it too", () => {
	it("a pause that the service asked for", async () => {
		const clock = new FakeClock();
		const queue = queueOf(clock, slow(clock, 100));
		const sent = queue.send(async () => clock.now(), never);
		await clock.pass(50);
		queue.pause(5_000);
		expect(await clock.until(sent)).toBeGreaterThanOrEqual(5_050);
	});

	it("an outage: it is not sent into it, but for one that probes", async () => {
		const clock = new FakeClock();
		const queue = queueOf(clock, slow(clock, 100));
		let sent = 0;
		const request = (): Promise<never> => {
			sent += 1;
			return Promise.reject(failure("not_sent"));
		};
		const failing = Array.from({ length: 20 }, () => queue.send(request, never).catch(() => undefined));
		await clock.pass(50);
		const waiting = Array.from({ length: 50 }, () => queue.send(async () => (sent += 1), never));
		await clock.until(Promise.all(failing));
		// Half of the first wait of a second at most: none of the fifty has been sent before.
		await clock.pass(450);
		expect(sent).toBe(20);
		await clock.until(Promise.all(waiting));
		expect(sent).toBe(70);
		expect(clock.now()).toBeGreaterThan(600);
	});
});

it("what the cap makes a request wait is not taken for the latency of the service", async () => {
	const clock = new FakeClock();
	const seen: number[] = [];
	const queue = queueOf(clock, slow(clock, 1_000), ({ sent, came }) => void seen.push(came - sent));
	await clock.until(queue.send(() => clock.sleep(70), never));
	expect(seen).toEqual([70]);
});
