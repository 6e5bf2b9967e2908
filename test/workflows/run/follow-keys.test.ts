import { expect, it } from "vitest";
import { followKeys } from "../../../src/workflows/run/follow-keys.ts";
import { HandTimers } from "../../io/terminal.ts";

function followed() {
	const notes: string[] = [];
	const timers = new HandTimers();
	let stopped = 0;
	const rates = { isPaused: false, rate: 100, pause() {}, continue() {}, changeForNow() {} };
	const io = { hasBar: true, note: (text: string) => notes.push(text) };
	const keys = () => ({ listen: () => () => (stopped += 1) });
	// The parts of a session and an app that keys use.
	const stop = followKeys({ session: { rates }, app: { io, keys, timers } } as unknown as Parameters<
		typeof followKeys
	>[0]);
	return { notes, timers, stop, stops: () => stopped };
}

it("the keys are named once, after a second of a run", () => {
	const { notes, timers } = followed();
	timers.pass(999);
	expect(notes).toEqual([]);
	timers.pass(60_000);
	expect(notes).toEqual(["Keys: + and - change the rate, p pauses and continues."]);
});

it("a run that is over within a second does not speak of keys", () => {
	const { notes, timers, stop, stops } = followed();
	timers.pass(900);
	stop();
	timers.pass(60_000);
	expect([notes, stops()]).toEqual([[], 1]);
});
