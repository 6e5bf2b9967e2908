import { type Metadata, metadataText } from "../json.ts";
import { redactor, show } from "../text.ts";
import { classifyAnswer } from "./classify.ts";
import { Decoder } from "./decode.ts";
import type { ParsedEnvelope } from "./envelope.ts";
import { RestError } from "./errors.ts";
import { type BoundarySource, boundaryFor, type Form, partForm, randomBoundary } from "./part-form.ts";
import type { Place } from "./place.ts";
import { pathOf, segment } from "./segment.ts";
import { type Call, type Method, Transport } from "./transport.ts";
import type { Api, BodyForm, DocumentQuery, Exchange, StoredFile, UploadFile } from "./types.ts";
import { openUpload } from "./upload.ts";

export type ApiOptions = {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** as `checkKey` gives it */
	readonly key: string;
	readonly body: BodyForm;
	/** of one attempt, in milliseconds; of uploads, without a byte moving */
	readonly timeout: number;
	/** connections at most */
	readonly connections: number;
	/** further trusted certificates, PEM */
	readonly ca?: readonly string[] | undefined;
	/** as `proxyFor` gives it; `token` is the whole value of a Proxy-Authorization */
	readonly proxy?: { readonly uri: string; readonly token?: string } | undefined;
	/** told to the service beside the program's name */
	readonly version?: string | undefined;
	readonly onExchange?: ((exchange: Exchange) => void) | undefined;
	/** random unless a test says otherwise */
	readonly boundary?: BoundarySource | undefined;
};

/** Bytes of an answer at most. Lists carry the metadata of a whole page. */
const answerLimit = 1024 * 1024;
const listLimit = 64 * answerLimit;

type Options = Partial<Pick<Call, "body" | "headers" | "limit" | "patient">> & { signal: AbortSignal | undefined };

/** The documented API of one service. Opens no connection before the first request. */
export function createApi(options: ApiOptions): Api {
	const { origin, pathname: prefix } = new URL(options.baseUrl);
	const place = placeOf(options);
	const transport = new Transport({ ...options, origin }, place);
	const decode = new Decoder(place);
	const boundary = boundaryFor(options.boundary ?? randomBoundary);
	const headers = [
		"authorization",
		`Bearer ${options.key}`,
		"accept",
		"application/json",
		"accept-encoding",
		"identity",
		"user-agent",
		options.version === undefined ? "ragtag" : `ragtag/${options.version}`,
	];

	/** One request, and what `read` makes of the envelope of its success. */
	async function call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		more: Options,
	): Promise<Result> {
		const started = performance.now();
		let status: number | undefined;
		const note = (result: string): void =>
			options.onExchange?.({ method, path, status, result, milliseconds: performance.now() - started });
		try {
			const answer = await transport.send({
				method,
				path,
				headers: more.headers === undefined ? headers : [...headers, ...more.headers],
				body: more.body ?? null,
				limit: more.limit ?? answerLimit,
				patient: more.patient ?? false,
				signal: more.signal,
			});
			status = answer.status;
			const envelope = classifyAnswer(answer, place, Date.now());
			if (envelope instanceof RestError) throw envelope;
			const result = read(envelope);
			note("ok");
			return result;
		} catch (error) {
			if (error instanceof RestError && error.code === "ECHO_MISMATCH") transport.renew();
			note(error instanceof RestError ? error.code : "aborted");
			throw error;
		}
	}

	async function upload(datasetId: string, file: UploadFile, signal: AbortSignal | undefined): Promise<StoredFile> {
		const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"]);
		// Always a new boundary: the bytes of the file are not searched for it.
		const opened = await openUpload(file, (options.boundary ?? randomBoundary)());
		try {
			const contentHeaders = ["content-type", opened.type, "content-length", String(opened.length)];
			const request = { body: opened.body, headers: contentHeaders, patient: true, signal };
			return await call("POST", path, (envelope) => sameSize(decode.stored(envelope), file, place), request);
		} finally {
			opened.body.destroy();
			await opened.close();
		}
	}

	return {
		listDatasets: async ({ page, pageSize }, signal) => {
			const path = pathOf(prefix, ["datasets"], { page, page_size: pageSize });
			return call("GET", path, (envelope) => decode.datasets(envelope), { limit: listLimit, signal });
		},
		createDataset: async (name, signal) => {
			const json = { body: JSON.stringify({ name }), headers: ["content-type", "application/json"] };
			return call("POST", pathOf(prefix, ["datasets"]), (envelope) => decode.created(envelope), { ...json, signal });
		},
		listDocuments: async (datasetId, query, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"], parametersOf(query));
			return call("GET", path, (envelope) => decode.documents(envelope, datasetId), { limit: listLimit, signal });
		},
		updateMetadata: async (datasetId, documentId, metadata, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
			const { type, body } = formOf(options.body, metadata, boundary);
			return call("PUT", path, (envelope) => decode.echo(envelope, documentId), {
				body,
				headers: ["content-type", type],
				signal,
			});
		},
		uploadDocument: upload,
		removeDocument: async (datasetId, documentId, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
			return call("DELETE", path, (envelope) => decode.echo(envelope, documentId), { signal });
		},
		close: () => transport.close(),
	};
}

function placeOf(options: ApiOptions): Place {
	const { host } = new URL(options.baseUrl);
	// The host alone: a proxy's address may carry a password.
	const through = options.proxy === undefined ? "" : ` (through the proxy ${new URL(options.proxy.uri).host})`;
	return { host: `${host}${through}`, redact: redactor(options.key) };
}

function parametersOf(query: DocumentQuery): Record<string, string | number | undefined> {
	const { page, pageSize, id, name, condition } = query;
	return { page, page_size: pageSize, id, name, metadata_condition: condition };
}

function formOf(form: BodyForm, metadata: Metadata, boundary: (payload: string) => string): Form {
	const payload = `{"meta_fields":${metadataText(metadata)}}`;
	if (form === "json") return { type: "application/json", body: payload };
	if (form === "plain") return { type: "multipart/form-data", body: payload };
	return partForm(payload, boundary(payload));
}

function sameSize(stored: StoredFile, file: UploadFile, place: Place): StoredFile {
	if (stored.size === undefined || stored.size === file.size) return stored;
	const message = `${place.host} stored ${stored.size} of the ${file.size} bytes of ${show(file.name)} as ${show(stored.id)}`;
	throw new RestError(message, { kind: "rejected", code: "SIZE_MISMATCH" });
}
