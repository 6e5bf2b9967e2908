import type { Input } from "./input.ts";

/** A key that changes a run. */
export type Key = "+" | "-" | "p";

/** Signals that a terminal sends for a key, unless its keys are read one by one. */
export type KeySignal = "SIGINT" | "SIGQUIT" | "SIGTSTP" | "SIGINFO";

export type KeysSources = {
	readonly stdin: Input & { setRawMode?(raw: boolean): unknown };
	/** sends a signal to all processes in the foreground of the terminal, as the terminal does */
	readonly raise: (signal: KeySignal) => void;
	/** whether this process is in the foreground: one in the background is stopped if it touches the terminal */
	readonly isForeground: () => boolean;
	/** whether the system has a signal for Ctrl-T */
	readonly hasInfo: boolean;
};

/** Bytes of control keys: Ctrl-C, Ctrl-T, Ctrl-Z, Ctrl-\. The terminal sends no signal for them while keys are read. */
const CTRL_C = 0x03;
const CTRL_T = 0x14;
const CTRL_Z = 0x1a;
const CTRL_BACKSLASH = 0x1c;
const ESCAPE = 0x1b;

const KEYS: ReadonlyMap<string, Key> = new Map([
	["+", "+"],
	// The same key without Shift, on many keyboards.
	["=", "+"],
	["-", "-"],
	["p", "p"],
	["P", "p"],
]);

/**
 * Reads single keys from the terminal on standard input. Control keys stay signals, and the terminal is given back when it
 * ends, and whenever the process is stopped or goes to the background.
 */
export class Keys {
	readonly #sources: KeysSources;
	#onKey: ((key: Key) => void) | undefined;
	#isReading = false;
	#isRaw = false;

	constructor(sources: KeysSources) {
		this.#sources = sources;
	}

	/** Calls back for each key until the returned function is called; undefined if standard input is no terminal. */
	listen(onKey: (key: Key) => void): (() => void) | undefined {
		const { stdin } = this.#sources;
		if (stdin.isTTY !== true || stdin.setRawMode === undefined) return undefined;
		this.#onKey = onKey;
		this.proceed();
		return () => {
			this.giveBack();
			this.#onKey = undefined;
		};
	}

	/** Whether keys are wanted and not read, as the process is, or was, in the background. */
	get isWaiting(): boolean {
		return this.#onKey !== undefined && !this.#isReading;
	}

	/** Gives the terminal back as it was: the process ends, or is about to be stopped. */
	giveBack(): void {
		this.#stopReading();
		if (!this.#isRaw || !this.#sources.isForeground()) return;
		this.#sources.stdin.setRawMode?.(false);
		this.#isRaw = false;
	}

	/** Reads on after the process was stopped, if it is in the foreground. */
	proceed(): void {
		if (this.#onKey === undefined) return;
		this.#stopReading();
		if (!this.#sources.isForeground()) return;
		const { stdin } = this.#sources;
		// A shell may have changed the terminal meanwhile, and Node does nothing if it believes that the mode is set.
		if (this.#isRaw) stdin.setRawMode?.(false);
		stdin.setRawMode?.(true);
		this.#isRaw = true;
		this.#isReading = true;
		stdin.on("data", this.#onData);
		stdin.resume();
	}

	#stopReading(): void {
		if (!this.#isReading) return;
		this.#isReading = false;
		this.#sources.stdin.off("data", this.#onData);
		this.#sources.stdin.pause();
	}

	readonly #onData = (bytes: Uint8Array | string): void => {
		const typed = Buffer.from(bytes);
		// Arrow and function keys begin with Escape.
		if (typed[0] === ESCAPE) return;
		for (const byte of typed) this.#take(byte);
	};

	#take(byte: number): void {
		const { raise, hasInfo } = this.#sources;
		if (byte === CTRL_C) return raise("SIGINT");
		if (byte === CTRL_Z) return raise("SIGTSTP");
		if (byte === CTRL_T) return hasInfo ? raise("SIGINFO") : undefined;
		if (byte === CTRL_BACKSLASH) {
			// It ends the process without any further step.
			this.giveBack();
			return raise("SIGQUIT");
		}
		const key = KEYS.get(String.fromCharCode(byte));
		if (key !== undefined) this.#onKey?.(key);
	}
}
