import { readFile } from "node:fs/promises";
import { PlanError } from "./plan-params.ts";
import { type FaultPlan, parsePlan } from "./plan.ts";

/** A plan from the command line: its JSON text, or the path of a file that holds it. */
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
