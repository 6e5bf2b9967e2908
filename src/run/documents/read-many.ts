import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { retryingPages } from "../retry/request.ts";
import type { Clock, Request } from "../types.ts";
import { askForId, foundIn, PLAIN_ID } from "./find-document.ts";
import { documentPages, firstDocuments, wholeList } from "./list.ts";
import { PAGE_SIZE } from "./pages.ts";

/** Documents that are asked for one by one, where the service lists none by their ids: the pages of a list cost more. */
const FEW = 3;

/** Documents of one dataset. */
export type Wanted = {
	readonly api: Api;
	readonly request: Request;
	readonly datasetId: string;
	readonly ids: readonly string[];
	readonly clock: Clock;
};

/** The wanted documents that a list shows. */
type Listed = {
	readonly found: ReadonlyMap<string, Document>;
	/** documents of the dataset, where all were listed */
	readonly size?: number;
};

export const NONE_LISTED: Listed = { found: new Map() };

/** The wanted documents as they are now, by their ids. In place of one that can't be read for a reason of its own, that reason. */
type ReadMany = {
	readonly documents: ReadonlyMap<string, Document | RestError>;
	readonly size?: number | undefined;
};

/**
 * Reads documents by the fewest requests. One that lists lack is asked for by itself.
 *
 * @param listed those that lists have shown already; lists are read unless it is given
 */
export async function readMany(wanted: Wanted, listed?: Listed): Promise<ReadMany> {
	const { found, size } = listed ?? (await listMany(wanted)) ?? NONE_LISTED;
	const documents = new Map<string, Document | RestError>(found);
	const [first, ...others] = wanted.ids.filter((id) => !found.has(id));
	if (first === undefined) return { documents, size };
	const heeded = await ask(wanted, first, documents);
	if (heeded) await Promise.all(others.map((id) => ask(wanted, id, documents)));
	else await findInWhole(wanted, [first, ...others], documents);
	return { documents, size };
}

/** Asks for one document. Resolves with whether the service heeds ids. */
async function ask(
	{ api, request, datasetId }: Wanted,
	id: string,
	documents: Map<string, Document | RestError>,
): Promise<boolean> {
	const answer = await ofRow(askForId(api, request, datasetId, id));
	if (answer instanceof RestError) documents.set(id, answer);
	else if (answer.found !== undefined) documents.set(id, answer.found);
	return answer instanceof RestError || answer.found !== undefined || answer.isHeeded;
}

async function findInWhole(
	{ api, request, datasetId }: Wanted,
	ids: readonly string[],
	documents: Map<string, Document | RestError>,
): Promise<void> {
	const all = new Map<string, Document>();
	for await (const document of wholeList(api, request, datasetId)) all.set(document.id, document);
	for (const id of ids) {
		const found = await ofRow(foundIn(all, datasetId, id));
		if (found !== undefined) documents.set(id, found);
	}
}

/** The result, or the refusal, which says nothing of other documents. */
function ofRow<Result>(result: Promise<Result>): Promise<Result | RestError> {
	return result.catch((error: unknown) => {
		if (error instanceof RestError && error.kind === "rejected") return error;
		throw error;
	});
}

/** Those of the wanted documents that lists show; undefined where no list can say it by fewer requests than one for each. */
export async function listMany(wanted: Wanted): Promise<Listed | undefined> {
	const { idsAtOnce } = wanted.api.dialect.flavour.list;
	const byIds = wanted.ids.length > 1 && idsAtOnce > 1 ? await listByIds(wanted, idsAtOnce) : undefined;
	return byIds ?? (wanted.ids.length > FEW ? listWhole(wanted) : undefined);
}

/** @returns undefined where the service answers with other documents, as v0.25.0 does */
async function listByIds({ api, request, datasetId, ids }: Wanted, most: number): Promise<Listed | undefined> {
	const found = new Map<string, Document>();
	if (!ids.every((id) => PLAIN_ID.test(id))) return undefined;
	for (let from = 0; from < ids.length; from += most) {
		const some = ids.slice(from, from + most);
		// Ids are compared without case by RAGFlow's database.
		const folded = new Set(some.map((id) => id.toLowerCase()));
		const query = { page: 1, pageSize: some.length, ids: some };
		const { items } = await request(() => api.listDocuments(datasetId, query));
		if (items.some(({ id }) => !folded.has(id.toLowerCase()))) return undefined;
		for (const document of items) found.set(document.id, document);
	}
	return { found };
}

async function listWhole({ api, request, datasetId, ids, clock }: Wanted): Promise<Listed | undefined> {
	const pages = retryingPages(request, clock);
	const start = await firstDocuments(api, pages, datasetId);
	const { total = Number.POSITIVE_INFINITY } = start.first;
	if (Math.ceil(total / (start.asked ?? PAGE_SIZE)) > ids.length) return undefined;
	const wanted = new Set(ids);
	const found = new Map<string, Document>();
	let size = 0;
	let isWhole = true;
	const onShort = (): void => void (isWhole = false);
	for await (const page of documentPages(api, pages, datasetId, { start, onShort })) {
		size += page.length;
		for (const document of page) if (wanted.has(document.id)) found.set(document.id, document);
	}
	return isWhole ? { found, size } : undefined;
}
