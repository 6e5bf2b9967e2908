import type { Metadata } from "../json.ts";

export type Dataset = { readonly id: string; readonly name: string; readonly documentCount: number | undefined };

export type Document = {
	readonly id: string;
	readonly datasetId: string;
	readonly name: string;
	/** bytes */
	readonly size: number | undefined;
	/** as the service gives it: epoch milliseconds or text */
	readonly createTime: number | string | undefined;
	/** undefined where the list carries no `meta_fields` */
	readonly metadata: Metadata | undefined;
};

/** One page of a list, as the service gave it: it may be short, repeat, or ignore what was asked. */
export type Page<Item> = { readonly items: readonly Item[]; readonly total: number | undefined };

export type DocumentQuery = {
	/** from 1 */
	readonly page: number;
	readonly pageSize: number;
	readonly id?: string;
	readonly name?: string;
	/** the text of a `metadata_condition` */
	readonly condition?: string;
};

export type StoredFile = { readonly id: string; readonly name: string; readonly size: number | undefined };

/** A file to upload: its bytes are opened anew for each attempt. */
export type UploadFile = { readonly path: string; readonly name: string; readonly size: number };

/**
 * The documented API, one request a call. It never waits and never retries.
 *
 * Each call resolves with the parsed answer of a success as service-api.md defines it, or rejects with a `RestError`;
 * with the signal's reason when it was aborted.
 */
export type Api = {
	listDatasets(
		query: { readonly page: number; readonly pageSize: number },
		signal?: AbortSignal,
	): Promise<Page<Dataset>>;
	createDataset(name: string, signal?: AbortSignal): Promise<{ readonly id: string; readonly name: string }>;
	listDocuments(datasetId: string, query: DocumentQuery, signal?: AbortSignal): Promise<Page<Document>>;
	updateMetadata(datasetId: string, documentId: string, metadata: Metadata, signal?: AbortSignal): Promise<void>;
	uploadDocument(datasetId: string, file: UploadFile, signal?: AbortSignal): Promise<StoredFile>;
	removeDocument(datasetId: string, documentId: string, signal?: AbortSignal): Promise<void>;
	/** ends the connections */
	close(): Promise<void>;
};

/** How the body of the metadata update goes out. `auto` is `multipart` on the documented API. */
export type BodyForm = "multipart" | "plain" | "json";

/** One request and what became of it, for `--debug`. Never carries a header or a body. */
export type Exchange = {
	readonly method: string;
	readonly path: string;
	/** HTTP status, or undefined where no answer came */
	readonly status: number | undefined;
	/** the envelope's code or the error's, "ok" on success */
	readonly result: string;
	readonly milliseconds: number;
};
