import type { Run } from "../../rest/parsing.ts";
import { rejected, RestError } from "../../rest/errors.ts";
import type { ParsingStates } from "../documents/parsing-states.ts";
import { readBack } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { type Memory, notInDataset, type OpenWork } from "./operation.ts";

type Starting = {
	readonly service: Service;
	readonly request: Request;
	readonly states: ParsingStates;
	/** rows of which a request was sent, whatever became of it */
	readonly sent: WeakSet<Memory>;
	/** the end of a row; `undefined` for one that was started. An error may be no `Error`: the reason why the run ends */
	readonly ends: Map<OpenWork, { readonly error: unknown } | undefined>;
};

/**
 * Starts the parsing of a few documents of one dataset, and gives each row its end. The answer is not believed, as some
 * releases start a part of what they refuse: each document is started when a list shows it at work, or done.
 */
export async function startParsing(starting: Starting, rows: readonly OpenWork[]): Promise<void> {
	const { ends } = starting;
	try {
		const refused = await send(starting, rows);
		const left = await notStarted(starting, rows, refused === undefined);
		// One of them is refused, and which is not always said.
		if (refused === undefined || rows.length === 1) {
			for (const row of left) ends.set(row, { error: refused ?? unstarted(row.item) });
		} else if (left.length === rows.length) for (const row of left) await startParsing(starting, [row]);
		else if (left.length > 0) await startParsing(starting, left);
	} catch (error) {
		for (const row of rows) if (!ends.has(row)) ends.set(row, { error });
	}
}

/** @returns the refusal. @throws RestError where it is not known what became of the request */
async function send({ service, request, sent }: Starting, rows: readonly OpenWork[]): Promise<RestError | undefined> {
	const [first] = rows;
	const ids = rows.map(({ item }) => item.documentId);
	try {
		await request(() => {
			for (const { memory } of rows) sent.add(memory);
			return service.api.parseDocuments(first?.item.datasetId ?? "", ids);
		});
		return undefined;
	} catch (error) {
		if (error instanceof RestError && error.isRefusal) return error;
		throw error;
	}
}

/** The rows whose documents no list shows as started. A list may show the state before for a moment. */
async function notStarted(
	{ service, request, states, ends }: Starting,
	rows: readonly OpenWork[],
	isAccepted: boolean,
): Promise<readonly OpenWork[]> {
	const look = async (): Promise<boolean> => {
		const since = service.clock.now();
		for (const row of rows) {
			const document = await states.now(service.api, request, row.item, since);
			if (document === undefined) ends.set(row, { error: notInDataset(service, row.item) });
			else if (isStarted(document.parsing?.run, isAccepted)) ends.set(row, undefined);
		}
		return rows.every((row) => ends.has(row));
	};
	if (isAccepted) await readBack(look, service);
	else await look();
	return rows.filter((row) => !ends.has(row));
}

/** After an accepted request a document may be done, or have failed, before a list shows it at work. */
function isStarted(run: Run | undefined, isAccepted: boolean): boolean {
	return run === "RUNNING" || (isAccepted && (run === "DONE" || run === "FAIL"));
}

function unstarted({ documentId }: Work): RestError {
	const text = `the service answered success to the parsing of document ${documentId}, and its list does not show it at work`;
	return rejected("NOT_STARTED", text);
}
