import type { Session } from "../app.ts";
import { usageError } from "../errors.ts";
import type { Document } from "../rest/types.ts";
import { findDocument } from "../run/documents/find-document.ts";
import { findAlike, findNamesakes } from "../run/documents/find-named.ts";
import type { DatasetAccess } from "../run/documents/list.ts";
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
	const found = await named(await accessTo(session, dataset), name);
	if (found !== undefined) return found;
	throw await unknown(session, dataset, name, "the name");
}

/** The document of that id, or else the one of exactly that name. @throws CliError as above */
export async function documentOf(session: Session, dataset: string, text: string): Promise<Document> {
	const access = await accessTo(session, dataset);
	const found = (await findDocument(access, text)) ?? (await named(access, text));
	if (found !== undefined) return found;
	throw await unknown(session, dataset, text, "the id or the name");
}

/** The documents of some ids, each once, in their order. @throws CliError exit 2 where the dataset does not list one */
export async function* documentsOfIds(
	session: Session,
	dataset: string,
	ids: readonly string[],
): AsyncGenerator<Document> {
	const access = await accessTo(session, dataset);
	const found: Document[] = [];
	for (const id of new Set(ids)) {
		const document = await findDocument(access, id);
		if (document === undefined) throw await unknown(session, dataset, id, "the id");
		found.push(document);
	}
	yield* found;
}

async function accessTo({ service, request: plain }: Session, datasetId: string): Promise<DatasetAccess> {
	const request = service.searches.believing(plain, WARN);
	return { api: await service.known(request), request, datasetId };
}

async function named(access: DatasetAccess, name: string): Promise<Document | undefined> {
	const [only, ...others] = await findNamesakes(access, name);
	if (only === undefined || others.length === 0) return only;
	const ids = [only, ...others].map(({ id }) => show(id));
	const more = ids.length > MOST_NAMED ? `, and ${numberText(ids.length - MOST_NAMED)} more` : "";
	throw usageError(
		`${numberText(ids.length)} documents of dataset ${show(access.datasetId)} have the name ${show(name)}; nothing was sent`,
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
