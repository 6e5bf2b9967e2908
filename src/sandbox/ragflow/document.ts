import type { Release } from "../flavours/release.ts";
import { integerColumn, textColumn } from "../store/database.ts";
import type { ParserSettings } from "../store/parser-settings.ts";
import { Code, Failure } from "./failure.ts";
import { suffixOf } from "./names.ts";
import type { Route } from "./request.ts";

/** `metadata` is the text that is shown; undefined for none. */
type Shown = {
	readonly metadata: string | undefined;
	readonly parser: ParserSettings;
	/** the members that name how it is parsed */
	readonly parserMembers: readonly Release["parserMember"][];
};

/** A document as JSON text, with or without its metadata: the members that a client may read, and some more. */
export function documentText(row: unknown, dataset: string, { metadata, parser, parserMembers }: Shown): string {
	const [createTime, updateTime] = [integerColumn(row, "create_time"), integerColumn(row, "update_time")];
	const name = textColumn(row, "name");
	const before = JSON.stringify({
		chunk_count: 0,
		...Object.fromEntries(parserMembers.map((member) => [member, parser.method])),
		create_date: new Date(createTime).toUTCString(),
		create_time: createTime,
		dataset_id: dataset,
		id: textColumn(row, "id"),
		location: name,
	});
	const after = JSON.stringify({
		name,
		progress: 0,
		run: "UNSTART",
		size: integerColumn(row, "size"),
		source_type: "local",
		status: "1",
		suffix: suffixOf(name),
		thumbnail: null,
		token_count: 0,
		update_date: new Date(updateTime).toUTCString(),
		update_time: updateTime,
	});
	// A text, because an object would reorder the keys.
	const between = metadata === undefined ? "" : `"meta_fields":${metadata},`;
	return `${before.slice(0, -1)},${between}${after.slice(1, -1)},"parser_config":${parser.config}}`;
}

/**
 * GET /datasets/<dataset_id>/documents/<document_id>: the bytes of a document, as they were uploaded (`download`).
 *
 * Up to v0.25 only the dataset's owner gets them. v0.26 looks up the document alone; v0.27 reports both as not found.
 */
export const downloadDocument: Route = async (call, { store }) => {
	const { datasetId, documentId, sentDatasetId, sentDocumentId, isOwner, release } = call;
	store.commits.flush();
	const hasDataset = store.datasets.find(datasetId) !== undefined;
	if (release.missingDownload === "names-dataset" && (!isOwner || !hasDataset))
		throw new Failure(Code.data, `You do not own the dataset ${sentDatasetId}.`);
	if (store.documents.datasetOf(documentId) !== datasetId) {
		if (release.missingDownload === "not-found") throw new Failure(Code.data, "document not found");
		throw new Failure(Code.data, `The dataset not own the document ${sentDocumentId}.`);
	}
	const bytes = store.documents.bytes(documentId);
	if (bytes.length === 0)
		throw new Failure(Code.data, release.reads === "as-go" ? "this document is empty" : "This file is empty.");
	return { bytes, name: store.documents.nameOf(documentId) ?? "" };
};
