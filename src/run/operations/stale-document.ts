import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { Document, UploadFile } from "../../rest/types.ts";
import { isSameName } from "../documents/find-document.ts";
import type { Named } from "../documents/stored-documents.ts";
import { holds } from "../service/arrival.ts";
import type { Replacing } from "./operation.ts";
import { beginReplacement, hasContentOf, readDocument, replacedMetadata } from "./replace.ts";
import { notListed } from "./rename.ts";
import type { UploadAttempt } from "./store-file.ts";
import type { UploadItem } from "./upload.ts";

/** What `--on-existing replace` does with the document that has a file's name. */
type Judged = {
	readonly what: "replace" | "update" | "nothing";
	readonly document: Document;
	/** what it is to have, or the document that takes its place */
	readonly metadata: Metadata;
};

type Judging = Pick<UploadAttempt, "service" | "api" | "request"> & {
	readonly item: Omit<UploadItem, "file"> & { readonly file: UploadFile };
	/** whether contents of equal size are compared, by a download */
	readonly checksum: boolean;
};

/**
 * Judges the document of a file's name by its size and, with `--checksum`, by its content. Sends nothing that writes.
 *
 * @param found the documents that the name means
 * @returns undefined where the name is free
 * @throws RestError where it is not certain which document is meant, or where its metadata can't be sent exactly
 */
export async function judgeNamesakes(judging: Judging, found: readonly Named[]): Promise<Judged | undefined> {
	const { service, item, checksum } = judging;
	const { file } = item;
	const [first, ...others] = found;
	if (first === undefined) return undefined;
	if (others.length > 0 || !isSameName(first.name, file.name)) {
		const ids = service.show(found.map(({ id }) => id).join(", "));
		const several = `the dataset has several documents called ${file.name}: ${ids}`;
		const alike = `the dataset has "${service.show(first.name)}", document ${ids}, which is the same name for this service as "${file.name}"`;
		const text = `${others.length > 0 ? several : alike}; none was replaced, and nothing of this row was sent`;
		throw new RestError(text, { kind: "rejected", code: "EXISTS" });
	}
	const isOtherSize = first.size !== undefined && first.size !== file.size;
	// A row without metadata asks nothing of a document that is as large as its file.
	if (!isOtherSize && !checksum && item.metadata.size === 0) {
		return { what: "nothing", document: { ...listed(judging, first) }, metadata: new Map() };
	}
	const document = await readDocument(judging, first.id);
	if (document === undefined) throw notListed(service, item, first.id);
	const metadata = replacedMetadata(service, item, document);
	const isStale = isOtherSize || (checksum && !(await hasContentOf(judging, document, file.path)));
	if (isStale) return { what: "replace", document, metadata };
	const isSame = holds(document, metadata, judging.api.dialect.flavour.normalise);
	return { what: isSame || item.metadata.size === 0 ? "nothing" : "update", document, metadata };
}

/** The beginning of a replacement of a document that is known by its id. Nothing of it was sent yet. */
export async function beginKnownReplacement(
	attempt: UploadAttempt & { readonly item: UploadItem },
	id: string,
): Promise<Replacing> {
	const { service, item } = attempt;
	const old = await readDocument(attempt, id);
	if (old === undefined) throw notListed(service, item, id);
	return beginReplacement(attempt, id, replacedMetadata(service, item, old));
}

function listed({ item: { datasetId } }: Judging, { id, name, size, metadata }: Named): Document {
	return { id, datasetId, isDatasetNamed: false, name, size, createTime: undefined, metadata };
}
