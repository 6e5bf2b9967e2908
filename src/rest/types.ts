import type { Metadata } from "../json/values.ts";
import type { BodyForm } from "../body-forms.ts";
import type { Flavour, ListOrder, DatasetListStyle, ProbeAnswer } from "./flavours.ts";
import type { InexactValues } from "./inexact.ts";

export type Dataset = { readonly id: string; readonly name: string; readonly documentCount: number | undefined };

export type Document = {
	readonly id: string;
	readonly datasetId: string;
	/** whether the list itself said so, beside having been asked for it */
	readonly isDatasetNamed: boolean;
	readonly name: string;
	/** bytes */
	readonly size: number | undefined;
	/** as the service gives it: epoch milliseconds or text */
	readonly createTime: number | string | undefined;
	/** undefined where the list carries no `meta_fields` */
	readonly metadata: Metadata | undefined;
	/** absent where all its numbers are as the service gave them */
	readonly inexact?: InexactValues;
};

/** One page of a list, as the service gave it: it may be short, repeat, or ignore what was asked. */
export type Page<Item> = { readonly items: readonly Item[]; readonly total: number | undefined };

export type DocumentQuery = {
	/** from 1 */
	readonly page: number;
	/** undefined asks for what the service gives by itself */
	readonly pageSize: number | undefined;
	/** undefined asks for the service's own order */
	readonly order?: ListOrder | undefined;
	readonly id?: string;
	readonly name?: string;
	/** the text of a `metadata_condition` */
	readonly condition?: string;
};

export type StoredFile = { readonly id: string; readonly name: string; readonly size: number | undefined };

/** A file to upload: its bytes are opened anew for each attempt. */
export type UploadFile = { readonly path: string; readonly name: string; readonly size: number };

/**
 * How a success names the document it is about. Servers of one kind always do it alike, so another way than the one that
 * was seen to be true comes from another server.
 */
export type Echo = "document_id" | "id" | "nothing" | "other";

/** How a service is spoken to. */
export type Dialect = {
	readonly flavour: Flavour;
	/** how the body of the metadata update goes out */
	readonly form: BodyForm;
};

/**
 * The API, one request a call, spoken in one dialect. It never waits and never retries.
 *
 * Each call resolves with the parsed answer of a success as service-api.md defines it, or rejects with a `RestError`;
 * with the signal's reason when it was aborted.
 */
export type Api = {
	readonly dialect: Dialect;
	/** the same service over the same connections, spoken to in another dialect */
	as(dialect: Dialect): Api;
	listDatasets(
		query: { readonly page: number; readonly pageSize: number },
		signal?: AbortSignal,
	): Promise<Page<Dataset>>;
	createDataset(name: string, signal?: AbortSignal): Promise<{ readonly id: string; readonly name: string }>;
	listDocuments(datasetId: string, query: DocumentQuery, signal?: AbortSignal): Promise<Page<Document>>;
	updateMetadata(datasetId: string, documentId: string, metadata: Metadata, signal?: AbortSignal): Promise<Echo>;
	uploadDocument(datasetId: string, file: UploadFile, signal?: AbortSignal): Promise<StoredFile>;
	/** Takes a document that `listDocuments` of this service gave, and no other: nothing is removed unseen. */
	removeDocument(document: Document, signal?: AbortSignal): Promise<void>;
	/** Lists one dataset, and tells in whose manner that was answered. */
	probeList(signal?: AbortSignal): Promise<DatasetListStyle>;
	/** Asks to update a document that nobody has, in a dataset that nobody has: it changes nothing. */
	probeUpdate(verb: "PUT" | "PATCH", signal?: AbortSignal): Promise<ProbeAnswer>;
	/**
	 * Asks to update a document that nobody has in a dataset that is there: it changes nothing, and the answer tells
	 * whether this key may update. `unknown` where the service does not say.
	 */
	probeRight(datasetId: string, signal?: AbortSignal): Promise<"may" | "may_not" | "unknown">;
	/** ends the connections */
	close(): Promise<void>;
};

/** One request and what became of it, for `--debug` and `doctor`. Never carries a body, nor a header of the request. */
export type Exchange = {
	readonly method: string;
	readonly path: string;
	/** HTTP status, or undefined where no answer came */
	readonly status: number | undefined;
	/** the envelope's code or the error's, "ok" on success */
	readonly result: string;
	readonly milliseconds: number;
	/** the `Date` of the answer as it came. A function, as it is looked for among the headers only when asked. */
	readonly date: () => string | undefined;
};
