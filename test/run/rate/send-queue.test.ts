import { setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { SendQueue } from "../../../src/run/rate/send-queue.ts";
import { FakeClock } from "../fake-clock.ts";
import { range } from "../../support/values.ts";
import { failure } from "../harness.ts";
import { ratesOf, type TestLimiter, unlimited } from "../rates.ts";

type SendQueueOptions = ConstructorParameters<typeof SendQueue>[0];

const never = new AbortController().signal;
// As the run does for its own: all that waits listens to it.
setMaxListeners(0, never);

function queueOf(
	clock: FakeClock,
	limiter: TestLimiter,
	more: Partial<Pick<SendQueueOptions, "onEnd" | "maxInFlight" | "rates">> = {},
): SendQueue {
	return new SendQueue({
		rates: ratesOf(clock, 100, limiter),
		maxInFlight: () => Number.POSITIVE_INFINITY,
		onEnd: () => undefined,
		onStop: () => undefined,
		...more,
	});
}

/** A limiter that keeps everybody waiting for that long. */
const slow = (clock: FakeClock, milliseconds: number): TestLimiter => ({
	take: () => clock.sleep(milliseconds),
});

describe("a request that waits for its token also waits for", () => {
	it("a pause that the service asks for meanwhile", async () => {
		const clock = new FakeClock();
		const queue = queueOf(clock, slow(clock, 100));
		const sent = queue.sender(never)(async () => clock.now());
		await clock.pass(50);
		queue.pause(5_000);
		expect(await clock.until(sent)).toBeGreaterThanOrEqual(5_050);
	});

	it("an outage that begins meanwhile, unless it is the probe", async () => {
		const clock = new FakeClock();
		const queue = queueOf(clock, slow(clock, 100));
		let sent = 0;
		const request = (): Promise<never> => {
			sent += 1;
			return Promise.reject(failure("not_sent"));
		};
		const failing = Array.from({ length: 20 }, () =>
			queue
				.sender(never)(request)
				.catch(() => undefined),
		);
		await clock.pass(50);
		const waiting = Array.from({ length: 50 }, () => queue.sender(never)(async () => (sent += 1)));
		await clock.until(Promise.all(failing));
		// Half of the first wait of a second at most: none of the fifty has been sent before.
		await clock.pass(450);
		expect(sent).toBe(20);
		await clock.until(Promise.all(waiting));
		expect(sent).toBe(70);
		expect(clock.now()).toBeGreaterThan(600);
	});
});

it("the wait for the cap does not count as latency of the service, or the run would slow down for its own cap", async () => {
	const clock = new FakeClock();
	const rates = ratesOf(clock, 100, slow(clock, 1_000));
	const queue = queueOf(clock, unlimited, { rates });
	await clock.until(queue.sender(never)(() => clock.sleep(70)));
	// 100 a second at 70 ms are 7, and not 107.
	expect(rates.controller.places()).toBeLessThan(20);
});

describe("places in flight", () => {
	/** Requests that take 10 ms each, sent at once, and how many of them were in flight at most. */
	async function sendMany(queue: SendQueue, clock: FakeClock): Promise<{ most: number; order: number[] }> {
		let inFlight = 0;
		let most = 0;
		const order: number[] = [];
		const requests = range(9).map((number) =>
			queue.sender(never)(async () => {
				order.push(number);
				most = Math.max(most, (inFlight += 1));
				await clock.sleep(10);
				inFlight -= 1;
				if (number % 2 === 0) throw failure("rejected");
			}),
		);
		await clock.until(Promise.allSettled(requests));
		return { most, order };
	}

	it("are no more than the limit, are taken in the order of the calls, and are free after a failure", async () => {
		const clock = new FakeClock();
		const queue = queueOf(clock, unlimited, { maxInFlight: () => 2 });
		expect(await sendMany(queue, clock)).toEqual({ most: 2, order: range(9) });
		expect(clock.now()).toBe(50);
	});

	it("follow a limit that rises or falls with an answer", async () => {
		const clock = new FakeClock();
		let limit = 1;
		const queue = queueOf(clock, unlimited, { maxInFlight: () => limit, onEnd: () => void (limit = 5) });
		expect((await sendMany(queue, clock)).most).toBe(5);
		expect(clock.now()).toBe(30);
		limit = 6;
		const lowered = queueOf(clock, unlimited, { maxInFlight: () => limit, onEnd: () => void (limit = 1) });
		await sendMany(lowered, clock);
		expect(clock.now()).toBe(70);
	});

	it("are held by a request that waits for its token", async () => {
		const clock = new FakeClock();
		let tokens = 0;
		const limiter: TestLimiter = { take: () => ((tokens += 1), clock.sleep(100)) };
		const queue = queueOf(clock, limiter, { maxInFlight: () => 2 });
		const sent = sendMany(queue, clock);
		await clock.pass(50);
		expect(tokens).toBe(2);
		await sent;
	});
});
