import process from "node:process";
import type { Clock } from "../../src/run/types.ts";

type Sleeper = { readonly until: number; readonly wake: () => void };

/** Time that passes only when a test says so. Chance is a constant: 0 waits not at all, 1 waits the whole back-off. */
export class FakeClock implements Clock {
	readonly #sleepers = new Set<Sleeper>();
	readonly #chance: number;
	readonly #idle: () => Promise<void>;
	#now = 0;

	/** @param whenIdle resolves when all that needs no time has happened */
	constructor(chance = 0.5, whenIdle = idle) {
		this.#chance = chance;
		this.#idle = whenIdle;
	}

	now(): number {
		return this.#now;
	}

	random(): number {
		return this.#chance;
	}

	sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
		if (milliseconds <= 0 || signal?.aborted === true) return Promise.resolve();
		return new Promise((resolve) => {
			const wake = (): void => {
				this.#sleepers.delete(sleeper);
				signal?.removeEventListener("abort", wake);
				resolve();
			};
			const sleeper: Sleeper = { until: this.#now + milliseconds, wake };
			this.#sleepers.add(sleeper);
			signal?.addEventListener("abort", wake);
		});
	}

	get sleeping(): number {
		return this.#sleepers.size;
	}

	/** Lets that many milliseconds pass, waking each sleeper at its own time. */
	async pass(milliseconds: number): Promise<void> {
		const until = this.#now + milliseconds;
		await this.#idle();
		for (let next = this.#next(); next !== undefined && next.until <= until; next = this.#next()) {
			this.#now = next.until;
			next.wake();
			await this.#idle();
		}
		this.#now = until;
	}

	/** Lets time pass until the promise settles; throws when nothing is left that could settle it. */
	async until<Value>(promise: Promise<Value>): Promise<Value> {
		let over = false;
		const watch = promise.then(
			() => (over = true),
			() => (over = true),
		);
		for (;;) {
			await this.#idle();
			if (over) break;
			const next = this.#next();
			if (next === undefined) throw new Error("nothing sleeps and nothing is settled: stuck");
			this.#now = next.until;
			next.wake();
		}
		await watch;
		return await promise;
	}

	#next(): Sleeper | undefined {
		let first: Sleeper | undefined;
		for (const each of this.#sleepers) if (first === undefined || each.until < first.until) first = each;
		return first;
	}
}

/** Resolves when all that can run without time passing has run. */
export function idle(): Promise<void> {
	return new Promise((resolve) => void setImmediate(resolve));
}

/** The same where files are looked at, which takes real time. */
export async function idleFiles(): Promise<void> {
	for (let quiet = 0; quiet < 3;) {
		await idle();
		quiet = process.getActiveResourcesInfo().some((resource) => resource.startsWith("FSReq")) ? 0 : quiet + 1;
	}
}
