import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Takers } from "../../../src/run/rate/takers.ts";
import { idle } from "../fake-clock.ts";

/** Requests that wait, by number, and those that have their permit, in the order in which they got it. */
function waiting(takers: Takers, count: number, signal?: AbortSignal): number[] {
	const granted: number[] = [];
	for (let number = 0; number < count; number += 1) {
		takers.wait(signal).then(
			() => granted.push(number),
			() => undefined,
		);
	}
	return granted;
}

describe("requests that wait for a permit", () => {
	it("get it in their order: the first of them would wait for as long as others come", async () => {
		const takers = new Takers();
		const granted = waiting(takers, 4);
		takers.grant(1);
		takers.grant(2);
		await idle();
		expect(granted).toEqual([0, 1, 2]);
	});

	it("get one each, and what none of them takes is left: it would be lost, and the cap not used", async () => {
		const takers = new Takers();
		const granted = waiting(takers, 3);
		expect(takers.grant(2)).toBe(2);
		await idle();
		expect(granted).toHaveLength(2);
		expect(takers).toHaveLength(1);
		expect(takers.grant(5)).toBe(1);
		expect(takers.grant(5)).toBe(0);
	});

	it.each<[string, (takers: Takers, stop: AbortController) => void]>([
		["got it", (takers) => takers.grant(2)],
		["were refused", (takers) => takers.refuse(new Error("closed"))],
		["were stopped", (_, stop) => stop.abort()],
	])("and %s leave nothing on the signal of the run: a million of them would fill the memory", async (_, end) => {
		const takers = new Takers();
		const stop = new AbortController();
		waiting(takers, 2, stop.signal);
		expect(getEventListeners(stop.signal, "abort")).toHaveLength(2);
		end(takers, stop);
		await idle();
		expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
		expect(takers).toHaveLength(0);
	});
});
