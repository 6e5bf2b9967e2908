import type { Session } from "../../app.ts";
import type { ParsingStates } from "../../run/documents/parsing-states.ts";
import { notInDataset } from "../../run/operations/operation.ts";
import { type ParsePlan, parseStep } from "../../run/operations/parse.ts";
import type { Work } from "../../run/types.ts";
import type { Effect } from "../effect.ts";

/** Whether a document would be parsed. It sends nothing that writes. @throws RestError where it is not listed */
export async function effectOfParsing(
	states: ParsingStates,
	{ service, request }: Session,
	item: Work,
	plan: ParsePlan,
): Promise<Effect> {
	const api = await service.known(request);
	const document = await states.now(api, request, item, Number.NEGATIVE_INFINITY);
	states.forget(item);
	if (document === undefined) throw notInDataset(service, item);
	const { documentId } = item;
	const run = document.parsing?.run;
	if (run === undefined || parseStep(run, plan) !== "start") return { action: "none", documentId };
	return { action: "parse", documentId, name: document.name, present: new Map(), metadata: new Map() };
}
