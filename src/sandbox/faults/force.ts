import type { RequestInfo } from "./request-info.ts";
import type { Draft } from "./draft.ts";
import { type Live, livePlan, type PlannedFault } from "./plan.ts";

/** A planned fault, and how often it came to pass. */
export type FaultReport = PlannedFault & {
	readonly when: "before" | "after";
	/** requests that method, path and document fitted */
	readonly fitted: number;
	readonly fired: number;
	/** how often the plan means it to fire; null where it leaves that open, which means once at least */
	readonly planned: number | null;
};

type Count = { fitted: number; taken: number; fired: number };

/** A fault whose turn it is with a request. `fired` is called when it has come to pass. */
export type Taken = { readonly live: Live; readonly random: () => number; readonly fired: () => void };

/** The plan that is in force. */
export class Force {
	#plan: readonly { readonly live: Live; readonly count: Count }[] = [];

	set(plan: unknown): void {
		// Made whole before it replaces the other: a plan with a mistake in it changes nothing.
		this.#plan = livePlan(plan).map((live) => ({ live, count: { fitted: 0, taken: 0, fired: 0 } }));
	}

	/** The first fault of the plan whose turn it is. Every fault counts the request, also where another takes it. */
	take(asked: RequestInfo, previous: Draft | undefined): Taken | undefined {
		let taken: Taken | undefined;
		for (const { live, count } of this.#plan) {
			const { fault, trigger, random } = live;
			if (!trigger.fits(asked) || fault.suits?.(asked, previous) === false) continue;
			const turn = trigger.turn(++count.fitted, random);
			if (!turn || taken !== undefined || count.taken >= trigger.times) continue;
			count.taken++;
			taken = { live, random: live.randomOfFiring(count.taken), fired: () => void count.fired++ };
		}
		return taken;
	}

	watchers(): readonly Live[] {
		return this.#plan.map(({ live }) => live).filter(({ fault }) => fault.watch !== undefined);
	}

	report(): FaultReport[] {
		return this.#plan.map(({ live: { planned, when, trigger }, count: { fitted, fired } }) => ({
			...planned,
			when,
			fitted,
			fired,
			planned: trigger.planned ?? null,
		}));
	}
}
