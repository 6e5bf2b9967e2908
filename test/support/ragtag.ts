import process from "node:process";
import { PassThrough, Writable } from "node:stream";
import { type App, type AppTimers, createApp, strayKeys } from "../../src/app.ts";
import { main } from "../../src/cli.ts";
import { createIo, type Timers } from "../../src/io.ts";
import type { Clock } from "../../src/run/types.ts";
import { fastClock } from "./clock.ts";
import { folder, KEY, withoutKey } from "./service.ts";

export type Ended = { readonly exit: number; readonly stdout: string; readonly stderr: string };

export type World = {
	readonly env?: Readonly<Record<string, string>>;
	readonly stdin?: string | Uint8Array;
	/** whether a person sits there */
	readonly terminal?: boolean;
	/** how wide the terminal is */
	readonly columns?: number;
	readonly home?: string;
	readonly signal?: AbortSignal;
	/** where waits are not to take their time */
	readonly clock?: Clock;
	/** the wall clock and the ticks of each second, where a test gives them */
	readonly timers?: AppTimers;
	/** of the progress, which is silent unless a test gives it */
	readonly shown?: Timers;
	/** sees what the program has written so far to standard error */
	readonly onError?: (text: string) => void;
	/** what happens before the program connects to the service */
	readonly beforeConnecting?: () => Promise<unknown>;
};

class Kept extends Writable {
	text = "";
	readonly isTTY: boolean;
	readonly columns: number;
	readonly #seen: ((text: string) => void) | undefined;
	constructor(isTTY: boolean, columns: number, seen?: (text: string) => void) {
		super();
		this.columns = columns;
		this.isTTY = isTTY;
		this.#seen = seen;
	}
	override _write(chunk: Buffer, _encoding: string, done: () => void): void {
		this.text += chunk.toString();
		this.#seen?.(this.text);
		done();
	}
}

/** Time for messages. Words about a silence would depend on how slow the machine is. */
const silent: Timers = { now: () => performance.now(), date: () => new Date(), every: () => () => undefined };

/** The whole program inside this process, on streams in memory. The key may be seen on neither of them. */
export async function ragtag(argv: readonly string[], world: World = {}): Promise<Ended> {
	const { env = {}, terminal = false, columns = 100, home, signal = new AbortController().signal } = world;
	const stdin = Object.assign(new PassThrough(), { isTTY: terminal });
	stdin.end(world.stdin ?? "");
	const stdout = new Kept(terminal, columns);
	const stderr = new Kept(terminal, columns, world.onError);
	const io = createIo({ stdin, stdout, stderr, env, timers: world.shown ?? silent });
	// As bin does.
	for (const key of strayKeys(argv, env, () => false).certain) io.hide(key);
	const app = createApp({
		io,
		env,
		home: home ?? (await folder()),
		stdin,
		signal,
		clock: world.clock ?? fastClock,
		...(world.timers === undefined ? {} : { timers: world.timers }),
		ownProcess: { pid: process.pid, isRunning: () => true },
	});
	const { beforeConnecting } = world;
	const connect: App["connect"] = async (...about) => {
		await beforeConnecting?.();
		return app.connect(...about);
	};
	const exit = await main(argv, { ...app, connect });
	withoutKey(stdout.text + stderr.text, env["RAGTAG_API_KEY"] ?? KEY);
	return { exit, stdout: stdout.text, stderr: stderr.text };
}

/** The environment of a user of that service. */
export function envOf({ url }: { readonly url: string }): Record<string, string> {
	return { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: KEY };
}
