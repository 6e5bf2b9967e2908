import type { Activity, WorkCount } from "../../activity.ts";
import type { Clock } from "../types.ts";
import { ListsInFlight } from "./lists-in-flight.ts";
import type { NextAttempt } from "./next-attempt.ts";

/** The states that a command gives itself. All others are caused by the service or the user. */
export type Phase = "checking" | "reading" | "running" | "verifying";

/** What a command does while neither the service nor the user holds it up. */
export class CurrentWork {
	/** the lists that are read; each reader reports to it */
	readonly lists: ListsInFlight;
	/** how much of the phase is done */
	count: WorkCount | undefined;
	/** the next attempt, until a request succeeds */
	again: NextAttempt | undefined;
	readonly #clock: Clock;
	#phase: Phase | undefined;
	#what: string | undefined;
	#since: number;

	constructor(clock: Clock) {
		this.#clock = clock;
		this.#since = clock.now();
		this.lists = new ListsInFlight(clock);
	}

	/** undefined until the command has begun its work */
	get phase(): Phase | undefined {
		return this.#phase;
	}

	enter(phase: Phase, what: string | undefined): void {
		if (phase !== this.#phase || what !== this.#what) {
			this.#since = this.#clock.now();
			this.count = undefined;
			this.lists.forget();
		}
		this.#phase = phase;
		this.#what = what;
	}

	/** undefined before the command has begun */
	activity(): Activity | undefined {
		const [now, phase] = [this.#clock.now(), this.#phase];
		const again = this.again && {
			cause: this.again.cause,
			again: { attempt: this.again.attempt, seconds: Math.max(0, this.again.at - now) / 1000 },
		};
		const list = phase === "running" ? undefined : this.lists.current;
		// A manifest's check asks the service only now and then. Other commands are known by their last list.
		if (list !== undefined && (list.isInFlight || phase !== "checking")) {
			const state = phase === "verifying" ? "verifying" : "reading";
			return { state, what: list.what, count: list.count, seconds: Math.max(0, now - list.since) / 1000, ...again };
		}
		if (phase === undefined) return undefined;
		const seconds = Math.max(0, now - this.#since) / 1000;
		return { state: phase, what: this.#what, count: this.count, seconds, ...again };
	}
}
