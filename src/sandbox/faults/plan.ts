import { readFile } from "node:fs/promises";
import type { Fault, When } from "./fault.ts";
import { PlanError, PlanParams } from "./plan-params.ts";
import { faultKinds } from "./table.ts";
import { type Trigger, triggerOf } from "./trigger.ts";

/** A fault as a plan writes it: its name, its variant, its requests, and parameters of its own. */
export type PlannedFault = {
	readonly fault: string;
	readonly when?: When;
	readonly on?: { readonly [member: string]: unknown };
	readonly [parameter: string]: unknown;
};

/** Which faults are injected, and into which requests. The same plan, seed and requests give the same faults. */
export type FaultPlan = { readonly seed?: number; readonly faults: readonly PlannedFault[] };

/** A fault of the active plan. */
export type ActiveFault = {
	readonly planned: PlannedFault;
	readonly index: number;
	readonly when: When;
	readonly trigger: Trigger;
	readonly fault: Fault;
	/** draws for `probability`, one for each request */
	readonly random: () => number;
	/** the random numbers of its n-th firing */
	readonly randomOfFiring: (firing: number) => () => number;
};

/** The seed of a plan without one, so that such a plan is repeatable, too. */
const defaultSeed = 1;

/** Faults of one plan: each of them checks every request. */
const mostFaults = 1000;

/** Reads a plan from the command line: its JSON text, or the path of a file that contains it. */
export async function readPlan(source: string): Promise<FaultPlan> {
	if (source.trimStart().startsWith("{")) return parsePlan(source);
	let text: string;
	try {
		text = await readFile(source, "utf8");
	} catch (error) {
		throw new PlanError(`the plan ${source} cannot be read: ${error instanceof Error ? error.message : ""}`);
	}
	return parsePlan(text);
}

/** A plan from JSON text, checked as a whole. */
export function parsePlan(text: string): FaultPlan {
	let plan: unknown;
	try {
		plan = JSON.parse(text);
	} catch (error) {
		throw new PlanError(`the plan is not JSON: ${error instanceof Error ? error.message : ""}`);
	}
	checkPlan(plan);
	return plan;
}

function checkPlan(plan: unknown): asserts plan is FaultPlan {
	activeFaults(plan);
}

/** Creates the faults of a plan. Throws a `PlanError` for anything that is not valid, so that no fault is ignored. */
export function activeFaults(plan: unknown): readonly ActiveFault[] {
	const params = new PlanParams(plan, "the plan");
	const seed = params.integer("seed", defaultSeed, { least: 0, most: 2 ** 32 - 1 });
	const faults = params.value("faults");
	params.refuseUnknown();
	if (!Array.isArray(faults)) throw new PlanError('the plan has no list "faults"');
	if (faults.length > mostFaults) throw new PlanError(`the plan has over ${mostFaults} faults`);
	return faults.map((planned: unknown, index) => activeFault(planned, index, seed));
}

function activeFault(planned: unknown, index: number, seed: number): ActiveFault {
	// A copy, which later changes by the caller do not affect.
	const members: unknown = structuredClone(planned);
	const unnamed = new PlanParams(members, `fault ${index + 1} of the plan`);
	const name = unnamed.text("fault", "");
	const kind = faultKinds.get(name);
	if (kind === undefined) {
		throw unnamed.error(
			name === "" ? 'has no "fault"' : `has the unknown name ${name}; --faults list shows all faults`,
		);
	}
	const params = new PlanParams(members, `fault ${index + 1} of the plan (${name})`);
	params.value("fault");
	const chosen = params.choice("when", ["before", "after"]);
	const when = params.value("when") === undefined ? kind.when[0] : chosen;
	if (!kind.when.includes(when)) throw params.error(`has no variant "${when}", only "${kind.when[0]}"`);
	const on = params.value("on") ?? {};
	const trigger = triggerOf(new PlanParams(on, `"on" of fault ${index + 1} of the plan (${name})`));
	const fault = kind.create(params);
	params.refuseUnknown();
	return {
		planned: { ...params.members, fault: name },
		index,
		when,
		trigger,
		fault,
		random: randomStream(seed, index),
		randomOfFiring: (firing) => randomStream((seed + Math.imul(firing, firingStride)) | 0, index),
	};
}

/** 2^32 / phi: far apart, so that the streams of neighbouring faults of a plan have nothing in common. */
const faultStride = 0x9e_37_79_b9;

/**
 * The same for the firings of one fault; any other odd number would do. Each firing has a stream of its own, because
 * firings overlap: otherwise the order of draws would depend on how long answers take.
 */
const firingStride = 0x85_eb_ca_6b;

/**
 * Numbers from 0 up to 1, repeatable for a seed: the generator mulberry32, with 32 bits of state.
 *
 * Each fault of a plan has a stream of its own, so a new fault does not change the draws of the others.
 */
function randomStream(seed: number, stream: number): () => number {
	let state = (seed + Math.imul(stream + 1, faultStride)) | 0;
	return () => {
		state = (state + 0x6d_2b_79_f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
