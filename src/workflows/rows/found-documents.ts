import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit } from "../../errors.ts";
import { csvLine, idFault } from "../../manifest/index.ts";
import type { Document } from "../../rest/types.ts";
import { withTemporaryStorage } from "../../run/storage/temporary-folders.ts";
import type { ShortList } from "../../run/documents/list.ts";
import { showsMetadata } from "../../run/documents/before-images.ts";
import { show } from "../../text/show.ts";
import { shortListError } from "../lists/warnings.ts";
import { filteredDocuments, type FilterFlags } from "./document-filter.ts";

/** The ids of the documents that meet a filter, as a manifest in a private file. */
export type FoundDocuments = {
	readonly path: string;
	readonly count: number;
	/** removes the file */
	close(): Promise<void>;
};

/**
 * Lists the documents of a dataset that meet a filter, before anything is written onto them.
 *
 * @throws CliError exit 1 where the list can't tell which they are: it is short, or shows no metadata to look at; exit 7
 * where they can't be kept
 */
export async function findDocuments(
	filter: FilterFlags,
	dataset: string,
	session: Session,
	settings: Settings,
	app: App,
): Promise<FoundDocuments> {
	const parent = await app.temporaryFolder(settings);
	const folder = await kept(() => mkdtemp(join(parent, "ragtag-found-")));
	const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
	try {
		const path = join(folder, "documents.csv");
		let short: ShortList | undefined;
		let count = 0;
		const lines = async function* (): AsyncGenerator<string> {
			yield csvLine(["dataset_id", "document_id"]);
			for await (const document of filteredDocuments(session, dataset, filter, (list) => (short = list))) {
				checkId(document);
				count += 1;
				yield csvLine([dataset, document.id]);
			}
		};
		await kept(() => pipeline(lines, createWriteStream(path, { mode: 0o600 })));
		if (short !== undefined) {
			throw shortListError(dataset, short, "nothing was sent, because the list of documents");
		}
		if (count === 0) await checkReadable(filter, dataset, session);
		return { path, count, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Of a list without metadata a filter finds nothing, and that would pass for the truth. */
async function checkReadable(
	{ where, whereJson, missing }: FilterFlags,
	dataset: string,
	{ service, request }: Session,
): Promise<void> {
	const flags = { "--where": where, "--where-json": whereJson, "--missing": missing };
	const [flag] = Object.entries(flags).flatMap(([name, given]) => (given === undefined ? [] : [name]));
	if (flag === undefined) return;
	if (await showsMetadata(service, request, dataset)) return;
	throw new CliError(
		`the list of dataset ${show(dataset)} shows no metadata, so ${flag} has nothing to compare with; nothing was sent`,
		{
			exit: Exit.failedRows,
			hint: "Name the documents in a manifest: the service does not show what they have.",
		},
	);
}

function checkId({ id }: Document): void {
	const fault = idFault("document_id", id);
	if (fault === undefined) return;
	throw new CliError(`the service lists a document whose id ${fault.text}; nothing was sent`, {
		exit: Exit.failedRows,
		hint: "No request can name it: inform the operator of the service.",
	});
}

function kept<Result>(work: () => Promise<Result>): Promise<Result> {
	return withTemporaryStorage("the ids that were found", work, "nothing was sent");
}
