import type { Draft } from "./draft.ts";
import type { RequestInfo, When } from "./fault.ts";
import { type ActiveFault, activeFaults, type PlannedFault } from "./plan.ts";

/** A planned fault, and how often it fired. */
export type FaultReport = PlannedFault & {
	readonly when: When;
	/** requests that method, path and document fitted */
	readonly fitted: number;
	readonly fired: number;
	/** how often the plan wants it to fire; null where the plan leaves that open, which means at least once */
	readonly planned: number | null;
};

/** A fault that is about to fire for a request. It calls `fired` when it has taken effect. */
export type Firing = { readonly active: ActiveFault; readonly random: () => number; readonly fired: () => void };

type Count = { fitted: number; started: number; fired: number };

/** The plan that is in force, and its counts. */
export class ActivePlan {
	#faults: readonly { readonly active: ActiveFault; readonly count: Count }[] = [];

	/** Throws a `PlanError` and keeps the present plan where the new one is not valid. */
	set(plan: unknown): void {
		this.#faults = activeFaults(plan).map((active) => ({ active, count: { fitted: 0, started: 0, fired: 0 } }));
	}

	/** The first fault of the plan that fires for a request. Every fault counts the request, whichever fires. */
	firingFor(request: RequestInfo, previous: Draft | undefined): Firing | undefined {
		let firing: Firing | undefined;
		for (const { active, count } of this.#faults) {
			const { fault, trigger, random } = active;
			if (!trigger.fits(request) || fault.appliesTo?.(request, previous) === false) continue;
			const fires = trigger.fires(++count.fitted, random);
			if (!fires || firing !== undefined || count.started >= trigger.times) continue;
			count.started++;
			firing = { active, random: active.randomOfFiring(count.started), fired: () => void count.fired++ };
		}
		return firing;
	}

	/** The faults that act after answers were sent. */
	answerObservers(): readonly ActiveFault[] {
		return this.#faults.map(({ active }) => active).filter(({ fault }) => fault.onAnswer !== undefined);
	}

	report(): FaultReport[] {
		return this.#faults.map(({ active: { planned, when, trigger }, count: { fitted, fired } }) => ({
			...planned,
			when,
			fitted,
			fired,
			planned: trigger.planned ?? null,
		}));
	}
}
