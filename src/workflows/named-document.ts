import type { Session } from "../app.ts";
import { usageError } from "../errors.ts";
import type { Document } from "../rest/types.ts";
import { findDocument } from "../run/documents/find-document.ts";
import { findAlike, findNamesakes } from "../run/documents/find-named.ts";
import { WARN } from "../run/documents/searches.ts";
import { show } from "../text/show.ts";
import { numberText } from "../text/words.ts";

/** Documents of one name that a message names. */
const MOST_NAMED = 10;

/**
 * The one document of exactly that name.
 *
 * @throws CliError exit 2 where there is none, or there are several; nothing was written by then
 */
export async function documentOfName(session: Session, dataset: string, name: string): Promise<Document> {
	const found = await named(session, dataset, name);
	if (found !== undefined) return found;
	throw await unknown(session, dataset, name, "the name");
}

/** The document of that id, or else the one of exactly that name. @throws CliError as above */
export async function documentOf(session: Session, dataset: string, text: string): Promise<Document> {
	const { service } = session;
	const request = service.searches.believing(session.request, WARN);
	const found =
		(await findDocument({ api: await service.known(request), request, datasetId: dataset }, text)) ??
		(await named(session, dataset, text));
	if (found !== undefined) return found;
	throw await unknown(session, dataset, text, "the id or the name");
}

/** The documents of some ids, each once, in their order. @throws CliError exit 2 where the dataset does not list one */
export async function* documentsOfIds(
	session: Session,
	dataset: string,
	ids: readonly string[],
): AsyncGenerator<Document> {
	const { service } = session;
	const request = service.searches.believing(session.request, WARN);
	const api = await service.known(request);
	const found: Document[] = [];
	for (const id of new Set(ids)) {
		const document = await findDocument({ api, request, datasetId: dataset }, id);
		if (document === undefined) throw await unknown(session, dataset, id, "the id");
		found.push(document);
	}
	yield* found;
}

async function named({ service, request }: Session, dataset: string, name: string): Promise<Document | undefined> {
	const sure = service.searches.believing(request, WARN);
	const [only, ...others] = await findNamesakes(
		{ api: await service.known(sure), request: sure, datasetId: dataset },
		name,
	);
	if (only === undefined || others.length === 0) return only;
	const ids = [only, ...others].map(({ id }) => show(id));
	const more = ids.length > MOST_NAMED ? `, and ${numberText(ids.length - MOST_NAMED)} more` : "";
	throw usageError(
		`${numberText(ids.length)} documents of dataset ${show(dataset)} have the name ${show(name)}; nothing was sent`,
		`Name one by its id: ${ids.slice(0, MOST_NAMED).join(", ")}${more}`,
	);
}

async function unknown({ service, request }: Session, dataset: string, text: string, what: string): Promise<Error> {
	// A name that was given for an id is named, too.
	const [near] = await findAlike({ api: service.api, request, datasetId: dataset }, text);
	return usageError(
		`no document of dataset ${show(dataset)} has ${what} ${show(text)}; nothing was sent`,
		near === undefined
			? "ragtag docs list shows its documents."
			: `Did you mean ${show(near.name)} (${show(near.id)})?`,
	);
}
