import { expect, it } from "vitest";
import { FirstWrites } from "../../../src/run/service/first-writes.ts";
import { range } from "../../support/values.ts";
import { FakeClock } from "../fake-clock.ts";

/** Writes to a server that does one at a time, `each` milliseconds long; how many were in flight at most, and the notes. */
async function write(rows: number, each: readonly number[]): Promise<{ most: number; last: number; notes: string[] }> {
	const clock = new FakeClock();
	const notes = new Map<string, string>();
	const writes = new FirstWrites({ clock, noteOnce: (what, text) => void (notes.has(what) || notes.set(what, text)) });
	let [inFlight, most, last, left] = [0, 0, 0, rows];
	writes.pending = () => left;
	let server: Promise<void> = Promise.resolve();
	const all = range(rows).map((n) =>
		writes.send(async () => {
			inFlight += 1;
			most = Math.max(most, inFlight);
			if (n >= rows / 2) last = Math.max(last, inFlight);
			server = server.then(() => clock.sleep(each[Math.min(n, each.length - 1)] ?? 0));
			await server;
			inFlight -= 1;
			left -= 1;
		}),
	);
	await clock.until(Promise.all(all));
	return { most, last, notes: [...notes.values()] };
}

it("two are in flight where each holds the server for a second, and that is said once, with the time for all", async () => {
	const { most, notes } = await write(200, [1_000]);
	expect(most).toBe(2);
	expect(notes).toEqual([expect.stringMatching(/takes this server 1\.0 s, .*about 3 min \d\d s for 198 documents/)]);
});

it("a server that does not wait gets more at once, and no note", async () => {
	const { most, notes } = await write(200, [5]);
	expect(most).toBeGreaterThan(50);
	expect(notes).toEqual([]);
});

it("a server far away, which does two at once, gets more at once, and no note", async () => {
	const clock = new FakeClock();
	const notes: string[] = [];
	const writes = new FirstWrites({ clock, noteOnce: (_, text) => void notes.push(text) });
	writes.pending = () => 100;
	await clock.until(Promise.all(range(100).map(() => writes.send(() => clock.sleep(600)))));
	expect(clock.now()).toBeLessThan(100 * 100);
	expect(notes).toEqual([]);
});

it("a server that begins to wait gets two at once again", async () => {
	const { last, notes } = await write(400, [...Array<number>(20).fill(5), 1_000]);
	expect(notes).toHaveLength(1);
	expect(last).toBeLessThan(400);
});
