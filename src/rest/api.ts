import { redactor } from "../text/redactor.ts";
import type { Call, Method } from "./attempt.ts";
import { type Answer, decoded, type ParsedEnvelope } from "./answer.ts";
import { boundaryFor, type BoundarySource, openUpload, randomBoundary, updateBody } from "./bodies.ts";
import { classifyAnswer, errorOfRoute, notTheApi } from "./classify.ts";
import { Decoder } from "./decode.ts";
import { documentCalls } from "./document-calls.ts";
import { type ErrorContext, type FlavourRequest, RestError } from "./errors.ts";
import type { DatasetListStyle, ProbeAnswer } from "./flavours.ts";
import { datasetListStyle, readProbe, readRight, UNKNOWN_ID } from "./probe.ts";
import { forRemoval, notListed, removalOf } from "./removal.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import type { Api, Dialect, ListedDocument, StoredFile, UploadFile } from "./types.ts";
import { Updates } from "./updates.ts";
import { DocumentPaths, documentParameters, pathOf, segment } from "./url.ts";

type ApiOptions = Omit<TransportOptions, "origin"> & {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** as `Settings.key` gives it */
	readonly key: string;
	readonly dialect: Dialect;
	/** called after each piece of a file that went out or came in */
	readonly onBytes?: ((bytes: number) => void) | undefined;
	/** random unless a test says otherwise */
	readonly boundary?: BoundarySource | undefined;
};

/** 1 MiB: the largest accepted answer of a request that lists nothing. */
const ANSWER_BYTES = 1024 * 1024;

const JSON_TYPE = ["content-type", "application/json"];

/** 64 MiB: a list has the metadata of a whole page. */
const LIST_BYTES = 64 * ANSWER_BYTES;

type CallOptions = Partial<Pick<Call<unknown>, "body" | "headers" | "limit" | "isPatient" | "isProbe">> & {
	signal: AbortSignal | undefined;
};

/** The API of one service. Opens no connection before the first request. */
export function createApi(options: ApiOptions): Api {
	const { origin } = new URL(options.baseUrl);
	const context = errorContextOf(options);
	const service: Service = {
		options,
		context,
		transport: new Transport({ ...options, origin }, context),
		decode: new Decoder(context),
		boundary: boundaryFor(options.boundary ?? randomBoundary),
		listed: new WeakSet(),
		isKeyAccepted: false,
	};
	return apiIn(options.dialect, service);
}

/** The parts that the dialects of one service share. */
type Service = {
	readonly options: ApiOptions;
	readonly context: ErrorContext;
	readonly transport: Transport;
	readonly decode: Decoder;
	readonly boundary: (payload: string) => string;
	/** the documents that its lists have shown; no others can be removed */
	readonly listed: WeakSet<ListedDocument>;
	/** whether it has accepted the key */
	isKeyAccepted: boolean;
};

function apiIn(dialect: Dialect, service: Service): Api {
	const { options, context, decode, boundary, listed } = service;
	const { flavour, form } = dialect;
	const { pathname: prefix } = new URL(options.baseUrl);
	const headers = [
		"authorization",
		`Bearer ${options.key}`,
		"accept",
		"application/json",
		"accept-encoding",
		"identity",
		"user-agent",
		"ragtag",
	];

	/** Sends one request, and reads its answer, success or not. */
	function exchange<Result>(
		method: Method,
		path: string,
		read: (answer: Answer) => Result,
		more: CallOptions,
	): Promise<Result> {
		return service.transport.send({
			method,
			path,
			headers: more.headers === undefined ? headers : [...headers, ...more.headers],
			body: more.body ?? null,
			limit: more.limit ?? ANSWER_BYTES,
			isPatient: more.isPatient ?? false,
			signal: more.signal,
			isProbe: more.isProbe ?? false,
			read: (answer) => read(decoded(answer)),
		});
	}

	/**
	 * The envelope of a success. Throws the error that any other answer means.
	 *
	 * @param only the request, if other flavours send another
	 */
	function success(answer: Answer, path: string, only?: FlavourRequest): ParsedEnvelope {
		const { isKeyAccepted } = service;
		const envelope = classifyAnswer(answer, { flavour, context, now: Date.now(), isKeyAccepted });
		if (envelope instanceof RestError) throw errorOfRoute(envelope, answer, path, only);
		service.isKeyAccepted = true;
		return envelope;
	}

	/** Sends one request, and reads the envelope of its success. */
	function call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		{ only, ...more }: CallOptions & { readonly only?: FlavourRequest },
	): Promise<Result> {
		return exchange(method, path, (answer) => read(success(answer, path, only)), more);
	}

	const updates = new Updates({
		dialect,
		paths: new DocumentPaths(prefix),
		headers,
		boundary,
		limit: ANSWER_BYTES,
		transport: service.transport,
		success: (answer, path) => success(decoded(answer), path, flavour.update.verb),
		echo: (envelope, documentId) => decode.echo(envelope, documentId),
	});

	const ofDocuments = documentCalls({
		dialect,
		prefix,
		headers,
		limit: ANSWER_BYTES,
		onBytes: options.onBytes,
		transport: service.transport,
		success: (answer, path) => success(decoded(answer), path),
		call: (method, path, read, body) => call(method, path, read, { ...body, headers: JSON_TYPE }),
		echo: (envelope, documentId) => void decode.echo(envelope, documentId),
	});

	async function upload(datasetId: string, file: UploadFile, signal: AbortSignal | undefined): Promise<StoredFile> {
		const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"]);
		// Always a new boundary, because the file is not searched for it.
		const opened = await openUpload(file, (options.boundary ?? randomBoundary)(), options.onBytes);
		try {
			const contentHeaders = ["content-type", opened.type, "content-length", String(opened.length)];
			const request = { body: opened.body, headers: contentHeaders, isPatient: true, signal };
			return await call("POST", path, (envelope) => decode.stored(envelope, file), request);
		} finally {
			opened.body.destroy();
			await opened.close();
		}
	}

	async function remove(documents: readonly ListedDocument[], signal: AbortSignal | undefined): Promise<void> {
		for (const document of documents) if (!listed.has(document)) throw notListed(document);
		const { path, body, headers: more = [] } = removalOf(flavour.removal, prefix, documents);
		const ids = documents.map(({ id }) => id);
		const read = (envelope: ParsedEnvelope): void => decode.removed(envelope, ids, flavour.removal);
		const content = body === undefined ? {} : { body, headers: more };
		return call("DELETE", path, read, { ...content, only: flavour.removal, signal });
	}

	return {
		dialect,
		as: (other) => apiIn(other, service),
		listDatasets: async ({ page, pageSize }, signal) => {
			const path = pathOf(prefix, ["datasets"], { page, page_size: pageSize });
			const limits = { limit: LIST_BYTES, signal };
			return call("GET", path, (envelope) => decode.datasets(envelope), limits).catch(unlessFound);
		},
		createDataset: async (name, signal) => {
			const body = { body: JSON.stringify({ name }), headers: JSON_TYPE, signal };
			const path = pathOf(prefix, ["datasets"]);
			return call("POST", path, (envelope) => decode.created(envelope), body).catch(unlessFound);
		},
		listDocuments: async (datasetId, query, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"], documentParameters(query));
			const page = await call("GET", path, (envelope) => decode.documents(envelope, datasetId), {
				limit: LIST_BYTES,
				signal,
			});
			for (const document of page.items) listed.add(document);
			return page;
		},
		updateMetadata: updates.send,
		uploadDocument: upload,
		...ofDocuments,
		forRemoval: (document) => forRemoval(listed, document),
		removeDocument: (document, signal) => remove([document], signal),
		removeTogether: remove,
		probeList: async (signal): Promise<DatasetListStyle> => {
			const path = pathOf(prefix, ["datasets"], { page: 1, page_size: 1 });
			const read = (envelope: ParsedEnvelope): DatasetListStyle => {
				decode.datasets(envelope);
				return datasetListStyle(envelope);
			};
			return call("GET", path, read, { limit: LIST_BYTES, isProbe: true, signal }).catch(unlessFound);
		},
		probeUpdate: async (verb, signal): Promise<ProbeAnswer> => {
			const path = pathOf(prefix, ["datasets", UNKNOWN_ID, "documents", UNKNOWN_ID]);
			const probe = { body: "{}", headers: JSON_TYPE, isProbe: true, signal };
			return exchange(verb, path, (answer) => readProbe(answer, flavour, context), probe);
		},
		probeRight: async (datasetId, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents", UNKNOWN_ID]);
			const { type, body } = updateBody(form, new Map(), boundary);
			const probe = { body, headers: ["content-type", type], isProbe: true, signal };
			return exchange(flavour.update.verb, path, (answer) => readRight(answer, flavour, context), probe);
		},
		close: () => service.transport.close(),
	};
}

/** Every service of this API lists and creates datasets. If it has no such path, it is another program. */
function unlessFound(error: unknown): never {
	throw error instanceof RestError && error.code === "NOT_FOUND" ? notTheApi(error) : error;
}

function errorContextOf(options: ApiOptions): ErrorContext {
	const { host } = new URL(options.baseUrl);
	// The host alone, because a proxy's address may contain a password.
	const through = options.proxy === undefined ? "" : ` (through the proxy ${new URL(options.proxy).host})`;
	return { host: `${host}${through}`, redact: redactor(options.key) };
}
