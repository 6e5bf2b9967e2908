import { PlanParams, PlanError } from "./plan-params.ts";
import type { Fault, When } from "./kind.ts";
import { randomOf, randomOfFiring } from "./random.ts";
import { kindNamed } from "./table.ts";
import { type Trigger, triggerOf } from "./trigger.ts";

/** A fault as a plan writes it: its name, its variant, its requests, and parameters of its own. */
export type PlannedFault = {
	readonly fault: string;
	readonly when?: When;
	readonly on?: { readonly [member: string]: unknown };
	readonly [parameter: string]: unknown;
};

/** What is to go wrong, and for which requests. The same plan, seed and requests give the same faults. */
export type FaultPlan = { readonly seed?: number; readonly faults: readonly PlannedFault[] };

/** A fault of a plan in force. */
export type Live = {
	readonly planned: PlannedFault;
	readonly index: number;
	readonly when: When;
	readonly trigger: Trigger;
	readonly fault: Fault;
	/** draws for `probability`, one for each request */
	readonly random: () => number;
	/** what its n-th firing draws from */
	readonly randomOfFiring: (firing: number) => () => number;
};

/** The seed of a plan that names none: a plan without one is as repeatable as any other. */
const defaultSeed = 1;

/** Faults of one plan: each of them looks at every request. */
const mostFaults = 1000;

/** Makes a plan ready. Throws a `PlanError` for what it does not understand, so that no fault is left out unseen. */
export function livePlan(plan: unknown): readonly Live[] {
	const given = new PlanParams(plan, "the plan");
	const seed = given.integer("seed", defaultSeed, { least: 0, most: 2 ** 32 - 1 });
	const faults = given.value("faults");
	given.end();
	if (!Array.isArray(faults)) throw new PlanError('the plan has no list "faults"');
	if (faults.length > mostFaults) throw new PlanError(`the plan has over ${mostFaults} faults`);
	return faults.map((planned: unknown, index) => live(planned, index, seed));
}

/** A plan from text that is JSON, checked as a whole. */
export function parsePlan(text: string): FaultPlan {
	let plan: unknown;
	try {
		plan = JSON.parse(text);
	} catch (error) {
		throw new PlanError(`the plan is not JSON: ${error instanceof Error ? error.message : ""}`);
	}
	if (!isPlan(plan)) throw new PlanError("the plan can't be followed");
	return plan;
}

/** Throws what is wrong with it, so it is never false. */
function isPlan(plan: unknown): plan is FaultPlan {
	livePlan(plan);
	return true;
}

function live(members: unknown, index: number, seed: number): Live {
	const first = new PlanParams(members, `fault ${index + 1} of the plan`);
	const name = first.text("fault", "");
	const kind = kindNamed(name);
	if (kind === undefined) {
		throw first.wrong(
			name === "" ? 'has no "fault"' : `is called ${name}, which is none; --faults list shows them all`,
		);
	}
	const given = new PlanParams(members, `fault ${index + 1} of the plan (${name})`);
	given.value("fault");
	const when = given.choice("when", ["before", "after"]);
	const chosen = given.value("when") === undefined ? kind.when[0] : when;
	if (!kind.when.includes(chosen)) throw given.wrong(`has no variant "${chosen}", only "${kind.when[0]}"`);
	const on = given.value("on") ?? {};
	const trigger = triggerOf(new PlanParams(on, `"on" of fault ${index + 1} of the plan (${name})`));
	const fault = kind.make(given);
	given.end();
	// Its own copy: what the caller does to the plan later is not part of it.
	const planned = { ...copyOf(members), fault: name };
	return {
		planned,
		index,
		when: chosen,
		trigger,
		fault,
		random: randomOf(seed, index),
		randomOfFiring: (firing) => randomOfFiring(seed, index, firing),
	};
}

function copyOf(members: unknown): PlanParams["all"] {
	const copy: unknown = structuredClone(members);
	return new PlanParams(copy, "").all;
}
