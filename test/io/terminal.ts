import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import type { Activity } from "../../src/activity.ts";
import { createIo, type Timers } from "../../src/io.ts";

/** A stream that keeps what is written to it. */
export class Kept extends Writable {
	text = "";
	override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
		this.text += chunk.toString();
		done();
	}
}

/** A terminal that knows as much as a redrawn line needs: what a person would see at the end is `screen`. */
export class Terminal extends Kept {
	readonly isTTY = true;
	readonly columns: number = 80;
	readonly screen: string[] = [""];
	override _write(chunk: Buffer, encoding: string, done: (error?: Error) => void): void {
		const [first = "", ...rest] = stripVTControlCharacters(chunk.toString()).split("\n");
		this.screen.push((this.screen.pop() ?? "") + first, ...rest);
		super._write(chunk, encoding, done);
	}
	cursorTo(): boolean {
		return true;
	}
	moveCursor(): boolean {
		this.screen.pop();
		return true;
	}
	clearLine(): boolean {
		this.screen[this.screen.length - 1] = "";
		return true;
	}
}

/** Time that passes when the test says so. */
export class HandTimers implements Timers {
	#now = 0;
	#calls = new Set<{ every: number; next: number; call: () => void }>();
	now(): number {
		return this.#now;
	}
	date(): Date {
		return new Date(Date.UTC(2026, 10, 22) + this.#now);
	}
	every(milliseconds: number, call: () => void): () => void {
		const entry = { every: milliseconds, next: this.#now + milliseconds, call };
		this.#calls.add(entry);
		return () => this.#calls.delete(entry);
	}
	pass(milliseconds: number): void {
		const end = this.#now + milliseconds;
		while (this.#now < end) {
			this.#now = Math.min(end, ...[...this.#calls].map(({ next }) => next));
			for (const entry of this.#calls) {
				if (entry.next > this.#now) continue;
				entry.next += entry.every;
				entry.call();
			}
		}
	}
}

/** Standard input of that text; a person's when `terminal`. */
export function input(text: string, terminal = false): PassThrough & { isTTY: boolean } {
	const stream = Object.assign(new PassThrough(), { isTTY: terminal });
	stream.end(text);
	return stream;
}

/** What a command prints on streams in memory, while time passes by hand. A test sets what the command does. */
export function ioOn(sources: Partial<Parameters<typeof createIo>[0]> = {}, stderr = new Kept()) {
	const [timers, stdout] = [new HandTimers(), new Kept()];
	const io = createIo({ stdin: input(""), stdout, stderr, env: {}, timers, ...sources });
	const doing: { now: Activity | undefined } = { now: undefined };
	io.follow(() => doing.now);
	return { io, timers, stdout, stderr, doing };
}

/** What the terminal shows in its last line, polled while time passes. */
export const drawn = (terminal: Terminal, timers: HandTimers) =>
	expect.poll(() => {
		timers.pass(100);
		return terminal.screen.at(-1);
	});
