import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type Key, Keys, type KeySignal } from "../../src/io/keys.ts";

type Terminal = {
	readonly keys: Keys;
	readonly typed: Key[];
	readonly raised: KeySignal[];
	/** whether keys come one by one, without a signal of the terminal */
	readonly isRaw: () => boolean;
	/** what was done to the mode, in its order */
	readonly modes: boolean[];
	isForeground: boolean;
	type(text: string): Promise<void>;
};

function terminal(isTTY = true): Terminal {
	const modes: boolean[] = [];
	const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: (raw: boolean) => void modes.push(raw) });
	const raised: KeySignal[] = [];
	const one = { isForeground: true };
	const raise = (signal: KeySignal): void => void raised.push(signal);
	const keys = new Keys({ stdin, raise, isForeground: () => one.isForeground, hasInfo: false });
	const type = async (text: string): Promise<void> => {
		stdin.write(text);
		await new Promise((resolve) => setImmediate(resolve));
	};
	return Object.assign(one, { keys, typed: [], raised, isRaw: () => modes.at(-1) ?? false, modes, type });
}

describe("keys of a terminal", () => {
	it("are read one by one; other keys, arrows among them, do nothing", async () => {
		const at = terminal();
		const stop = at.keys.listen((key) => at.typed.push(key));
		for (const text of ["+", "=", "-", "p", "P", "x", "q", "\u001b[A", "\u001bp", "\r", " "]) await at.type(text);
		expect(at.typed).toEqual(["+", "+", "-", "p", "p"]);
		stop?.();
		await at.type("p");
		expect(at.typed).toHaveLength(5);
		expect(at.isRaw()).toBe(false);
	});

	it.each<[string, KeySignal]>([
		["\u0003", "SIGINT"],
		["\u001a", "SIGTSTP"],
		["\u001c", "SIGQUIT"],
	])("%j stays the signal %s, or Ctrl-C would not stop a run", async (text, signal) => {
		const at = terminal();
		at.keys.listen(() => undefined);
		await at.type(text);
		expect(at.raised).toEqual([signal]);
		// Nothing runs after SIGQUIT that could give the terminal back.
		expect(at.isRaw()).toBe(signal !== "SIGQUIT");
	});

	it("are not read where standard input is no terminal", () => {
		const at = terminal(false);
		expect(at.keys.listen(() => undefined)).toBeUndefined();
		expect(at.modes).toEqual([]);
	});

	it("leave the terminal alone in the background, where a touch would stop the process", async () => {
		const at = terminal();
		at.isForeground = false;
		at.keys.listen((key) => at.typed.push(key));
		expect([at.modes, at.keys.isWaiting]).toEqual([[], true]);
		at.isForeground = true;
		at.keys.proceed();
		await at.type("p");
		expect([at.typed, at.isRaw(), at.keys.isWaiting]).toEqual([["p"], true, false]);
		// It goes to the background again, without a word to it, and ends there.
		at.isForeground = false;
		const before = at.modes.length;
		at.keys.proceed();
		at.keys.giveBack();
		expect(at.modes).toHaveLength(before);
	});

	it("are read on after a stop, and the terminal is given back before it", async () => {
		const at = terminal();
		at.keys.listen((key) => at.typed.push(key));
		at.keys.giveBack();
		expect(at.isRaw()).toBe(false);
		at.keys.proceed();
		expect(at.isRaw()).toBe(true);
		await at.type("-");
		expect(at.typed).toEqual(["-"]);
	});
});
