import type { Metadata } from "../json/values.ts";
import type { BodyForm } from "../body-forms.ts";
import type { Flavour, ListOrder, DatasetListStyle, ProbeAnswer } from "./flavours.ts";
import type { InexactValues } from "./inexact.ts";
import type { Parsing } from "./parsing.ts";

export type Dataset = { readonly id: string; readonly name: string; readonly documentCount: number | undefined };

export type Document = {
	readonly id: string;
	readonly datasetId: string;
	/** whether the list itself named the dataset; otherwise it is the one that was asked for */
	readonly isDatasetNamed: boolean;
	readonly name: string;
	/** bytes */
	readonly size: number | undefined;
	/** as the service gives it: epoch milliseconds or text */
	readonly createTime: number | string | undefined;
	/** undefined if the list has no `meta_fields` */
	readonly metadata: Metadata | undefined;
	/** undefined if each number is as the service gave it */
	readonly inexact?: InexactValues | undefined;
	/** undefined if the list shows nothing of it */
	readonly parsing?: Parsing | undefined;
};

/** The members of a listed document that a removal needs. */
export type ListedDocument = Pick<Document, "id" | "datasetId" | "isDatasetNamed"> & Partial<Pick<Document, "name">>;

/** One page of a list, as the service gave it. It may be short, repeat documents, or ignore the query. */
export type Page<Item> = { readonly items: readonly Item[]; readonly total: number | undefined };

export type DocumentQuery = {
	/** from 1 */
	readonly page: number;
	/** undefined asks for the service's own page size */
	readonly pageSize: number | undefined;
	/** undefined asks for the service's own order */
	readonly order?: ListOrder | undefined;
	readonly id?: string;
	/** several documents; a service may ignore it */
	readonly ids?: readonly string[];
	readonly name?: string;
};

export type StoredFile = { readonly id: string; readonly name: string; readonly size: number | undefined };

/** A file to upload: its bytes are opened anew for each attempt. */
export type UploadFile = { readonly path: string; readonly name: string; readonly size: number };

/** A member of a document that its update changes. */
export type ParsingChange = { readonly chunk_method: string } | { readonly enabled: boolean };

/** Takes the bytes of a file, one piece after another: the next comes after the promise of the last. */
export type ByteSink = (bytes: Uint8Array) => Promise<void>;

/**
 * How the answer to an update names its document. Servers of one kind always do it in the same way. So a success with another
 * echo than that of a proven write comes from another server.
 */
export type Echo = "document_id" | "id" | "id_and_metadata" | "nothing" | "other";

/** The flavour and the body form in which requests are written. */
export type Dialect = {
	readonly flavour: Flavour;
	/** of the body of a metadata update */
	readonly form: BodyForm;
};

/**
 * The API in one dialect. Each call sends one request. It never waits and never retries.
 *
 * Each call resolves with the parsed answer of a success, or rejects with a `RestError`.
 */
export type Api = {
	readonly dialect: Dialect;
	/** the same service and connections in another dialect */
	as(dialect: Dialect): Api;
	listDatasets(query: { readonly page: number; readonly pageSize: number }): Promise<Page<Dataset>>;
	createDataset(name: string): Promise<{ readonly id: string; readonly name: string }>;
	listDocuments(datasetId: string, query: DocumentQuery): Promise<Page<Document>>;
	updateMetadata(datasetId: string, documentId: string, metadata: Metadata): Promise<Echo>;
	uploadDocument(datasetId: string, file: UploadFile): Promise<StoredFile>;
	/**
	 * Gives the bytes of a stored document to a sink, and resolves with their number. After a rejection the sink may have taken
	 * some of them: no server gives the rest of half a file. A sink that rejects ends the request with the same error.
	 *
	 * An answer without a length may be cut without a sign: compare the number with the listed size.
	 */
	downloadDocument(document: Pick<Document, "datasetId" | "id" | "size">, sink: ByteSink): Promise<number>;
	/** Gives a document another name, and changes nothing else of it. */
	renameDocument(datasetId: string, documentId: string, name: string): Promise<void>;
	/** Changes how a document is parsed, or whether questions find it: one of them, as some releases ignore what follows the first. */
	changeParsing(datasetId: string, documentId: string, change: ParsingChange): Promise<void>;
	/**
	 * Starts the parsing of documents, after which the chunks that they had are gone. Some releases start those before the first
	 * that they refuse, in any order: after a rejection, as after a success, only a list shows which were started.
	 */
	parseDocuments(datasetId: string, documentIds: readonly string[]): Promise<void>;
	/** Removes a document that `listDocuments` of this service gave, and refuses any other. */
	removeDocument(document: ListedDocument): Promise<void>;
	/** The same for several documents of one dataset, where the flavour's `removesMany` says so. */
	removeTogether(documents: readonly ListedDocument[]): Promise<void>;
	/** Lists one dataset, and gives the style of the answer. */
	probeList(): Promise<DatasetListStyle>;
	/** Asks to update a document that does not exist, in a dataset that does not exist. It changes nothing. */
	probeUpdate(verb: "PUT" | "PATCH"): Promise<ProbeAnswer>;
	/**
	 * Asks to update a document that does not exist, in a dataset that exists. It changes nothing. The answer says whether this
	 * key may update documents of the dataset; `unknown` if it does not say so.
	 */
	probeRight(datasetId: string): Promise<"may" | "may_not" | "unknown">;
	/** closes the connections */
	close(): Promise<void>;
};

/** One request and its outcome, for `--debug` and `doctor`. It has no body, and no header of the request. */
export type Exchange = {
	readonly method: string;
	readonly path: string;
	/** HTTP status; undefined if no answer came */
	readonly status: number | undefined;
	/** the code of the error; "ok" for a success */
	readonly result: string;
	readonly milliseconds: number;
	/** the `Date` of the answer as it came; a function, so that the headers are searched only when it is needed */
	readonly date: () => string | undefined;
};
