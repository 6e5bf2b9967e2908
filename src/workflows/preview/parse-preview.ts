import type { Row } from "../../manifest/types.ts";
import { ParsingStates } from "../../run/documents/parsing-states.ts";
import { notListed } from "../../run/operations/parse-start.ts";
import type { Session } from "../../app.ts";
import type { Clock, Work } from "../../run/types.ts";
import type { Effect, PreviewRow } from "../effect.ts";
import type { RowSource } from "../rows/row-source.ts";
import { type ParsePlan, parseStep } from "../../run/operations/parse.ts";

/** Rows whose documents are read together. */
const AHEAD = 1000;

/** Shows which documents would be parsed. It reads their states many at a time, and sends nothing that writes. */
export function parsePreview(rows: Pick<RowSource, "read">, plan: ParsePlan, clock: Clock): PreviewRow {
	const states = new ParsingStates(clock);
	let turn: Promise<void> = Promise.resolve();
	let [coming, expected]: [AsyncIterator<Row> | undefined, number] = [undefined, -1];
	const expect = async (index: number): Promise<void> => {
		coming ??= rows.read()[Symbol.asyncIterator]();
		for (let count = 0; expected < index || (count > 0 && count < AHEAD); count += 1) {
			const next = await coming.next();
			if (next.done === true) return;
			expected = next.value.index;
			states.expect([next.value]);
		}
	};
	return async (row, session) => {
		await (turn = turn.then(() => expect(row.index)));
		return effectOfParsing(states, session, row, plan);
	};
}

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
	if (document === undefined) throw notListed(item);
	const { documentId } = item;
	const run = document.parsing?.run;
	if (run === undefined || parseStep(run, plan) !== "start") return { action: "none", documentId };
	return { action: "parse", documentId, name: document.name, present: new Map(), metadata: new Map() };
}
