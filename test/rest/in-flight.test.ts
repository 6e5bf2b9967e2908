import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { type Endable, InFlight } from "../../src/rest/transport.ts";

afterEach(() => vi.useRealTimers());

/** Records how it ended, as a response handler does: it is taken out at its end. */
class Recorded implements Endable {
	position = 0;
	readonly ends: string[] = [];
	readonly deadline: number;
	readonly signal: AbortSignal | undefined;
	readonly #inFlight: InFlight;

	constructor(inFlight: InFlight, deadline: number, signal: AbortSignal | undefined) {
		this.#inFlight = inFlight;
		this.deadline = deadline;
		this.signal = signal;
		inFlight.add(this);
	}

	get isOpen(): boolean {
		return this.ends.length === 0;
	}

	expire(): void {
		this.end("expired");
	}

	cancel(reason: unknown): void {
		this.end(String(reason));
	}

	end(how: string): void {
		this.ends.push(how);
		this.#inFlight.delete(this);
	}
}

/** Milliseconds between two ticks, for a timeout of 100 ms. */
const TICK = 5;

const step = fc.record({
	what: fc.constantFrom("begin", "begin", "begin", "answer", "answer", "abort", "wait"),
	which: fc.nat({ max: 20 }),
});

test("attempts end once each: by their answer, their own signal or their own deadline, and no other", () => {
	const run = (steps: readonly { readonly what: string; readonly which: number }[]): void => {
		vi.useFakeTimers();
		const inFlight = new InFlight(100);
		const controllers = [new AbortController(), new AbortController()];
		const all: Recorded[] = [];
		for (const { what, which } of steps) {
			const controller = controllers[which % 3];
			const open = all.filter(({ isOpen }) => isOpen);
			const after = (): string[] => open.map(({ ends }) => ends.join());
			if (what === "begin" && controller?.signal.aborted !== true) {
				all.push(new Recorded(inFlight, performance.now() + which * 3, controller?.signal));
			} else if (what === "answer") {
				open[which % open.length]?.end("answered");
			} else if (what === "abort" && controller?.signal.aborted === false) {
				controller.abort("stop");
				expect(after()).toEqual(open.map(({ signal }) => (signal === controller.signal ? "stop" : "")));
			} else if (what === "wait") {
				vi.advanceTimersByTime(which);
				const now = performance.now();
				for (const { deadline, ends } of open) {
					if (deadline > now) expect(ends).toEqual([]);
					else if (deadline <= now - TICK) expect(ends).toEqual(["expired"]);
				}
			}
		}
		vi.advanceTimersByTime(1_000);
		for (const { ends } of all) expect(ends).toHaveLength(1);
		expect(vi.getTimerCount()).toBe(0);
		vi.useRealTimers();
	};
	fc.assert(fc.property(fc.array(step, { maxLength: 60 }), run), { numRuns: 300 });
});
