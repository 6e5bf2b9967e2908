import { redactor } from "../text/redactor.ts";
import { classifyAnswer } from "./classify.ts";
import { type Answer, type ParsedEnvelope, headerValues } from "./answer.ts";
import { Decoder } from "./decode.ts";
import { RestError, type ErrorContext } from "./errors.ts";
import type { DatasetListStyle, ProbeAnswer } from "./flavours.ts";
import { type BoundarySource, boundaryFor, randomBoundary, updateForm, openUpload, sameSize } from "./bodies.ts";
import { parametersOf, pathOf, segment } from "./url.ts";
import { datasetListStyle, UNKNOWN_ID, readProbe, readRight } from "./probe.ts";
import { removalOf, unseen } from "./removal.ts";
import { type Call, type Method, Transport } from "./transport.ts";
import type { Api, Dialect, Document, Exchange, StoredFile, UploadFile } from "./types.ts";

export type ApiOptions = {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** as `checkKey` gives it */
	readonly key: string;
	readonly dialect: Dialect;
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

type Options = Partial<Pick<Call, "body" | "headers" | "limit" | "patient">> & {
	signal: AbortSignal | undefined;
	/** what it came to is worth a word in the debug record */
	isProbe?: true;
};

/** The API of one service. Opens no connection before the first request. */
export function createApi(options: ApiOptions): Api {
	const { origin } = new URL(options.baseUrl);
	const place = placeOf(options);
	const service: Service = {
		options,
		place,
		transport: new Transport({ ...options, origin }, place),
		decode: new Decoder(place),
		boundary: boundaryFor(options.boundary ?? randomBoundary),
		listed: new WeakSet(),
		accepted: false,
	};
	return speaking(service, options.dialect);
}

/** What all dialects of one service share. */
type Service = {
	readonly options: ApiOptions;
	readonly place: ErrorContext;
	readonly transport: Transport;
	readonly decode: Decoder;
	readonly boundary: (payload: string) => string;
	/** the documents that its lists have shown: no other can be removed */
	readonly listed: WeakSet<Document>;
	/** whether it has accepted the key */
	accepted: boolean;
};

function speaking(service: Service, dialect: Dialect): Api {
	const { options, place, transport, decode, boundary, listed } = service;
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
		options.version === undefined ? "ragtag" : `ragtag/${options.version}`,
	];

	/** One request, and what `read` makes of its answer, whatever that says. */
	async function exchange<Result>(
		method: Method,
		path: string,
		read: (answer: Answer) => Result,
		more: Options,
	): Promise<Result> {
		const started = performance.now();
		let answer: Answer | undefined;
		const note = (result: string): void =>
			options.onExchange?.({
				method,
				path,
				status: answer?.status,
				result,
				milliseconds: performance.now() - started,
				date: () => (answer === undefined ? undefined : headerValues(answer.headers, "date")[0]),
			});
		try {
			answer = await transport.send({
				method,
				path,
				headers: more.headers === undefined ? headers : [...headers, ...more.headers],
				body: more.body ?? null,
				limit: more.limit ?? answerLimit,
				patient: more.patient ?? false,
				signal: more.signal,
			});
			const result = read(answer);
			note(more.isProbe === true ? String(result) : "ok");
			return result;
		} catch (error) {
			if (error instanceof RestError && ["ECHO_MISMATCH", "OTHER_CASE"].includes(error.code)) transport.renew();
			note(error instanceof RestError ? error.code : "aborted");
			throw error;
		}
	}

	/** One request, and what `read` makes of the envelope of its success. */
	function call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		more: Options,
	): Promise<Result> {
		const readSuccess = (answer: Answer): Result => {
			const envelope = classifyAnswer(answer, flavour, place, Date.now(), service.accepted);
			if (envelope instanceof RestError) throw envelope;
			service.accepted = true;
			return read(envelope);
		};
		return exchange(method, path, readSuccess, more);
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
		dialect,
		as: (other) => speaking(service, other),
		listDatasets: async ({ page, pageSize }, signal) => {
			const path = pathOf(prefix, ["datasets"], { page, page_size: pageSize });
			const limits = { limit: listLimit, signal };
			return call("GET", path, (envelope) => decode.datasets(envelope), limits).catch(notTheApi);
		},
		createDataset: async (name, signal) => {
			const json = { body: JSON.stringify({ name }), headers: ["content-type", "application/json"] };
			const read = (envelope: ParsedEnvelope): { readonly id: string; readonly name: string } =>
				decode.created(envelope);
			return call("POST", pathOf(prefix, ["datasets"]), read, { ...json, signal }).catch(notTheApi);
		},
		listDocuments: async (datasetId, query, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"], parametersOf(query));
			const page = await call("GET", path, (envelope) => decode.documents(envelope, datasetId), {
				limit: listLimit,
				signal,
			});
			for (const document of page.items) listed.add(document);
			return page;
		},
		updateMetadata: async (datasetId, documentId, metadata, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
			const { type, body } = updateForm(form, metadata, boundary);
			return call(flavour.update.verb, path, (envelope) => decode.echo(envelope, documentId), {
				body,
				headers: ["content-type", type],
				signal,
			});
		},
		uploadDocument: upload,
		removeDocument: async (document, signal) => {
			if (!listed.has(document)) throw unseen(document);
			const { path, body, headers: more } = removalOf(flavour.removal, prefix, document);
			const read = (envelope: ParsedEnvelope): void => decode.removed(envelope, document.id, flavour.removal);
			return call("DELETE", path, read, { ...(body === undefined ? {} : { body, headers: more }), signal });
		},
		probeList: async (signal): Promise<DatasetListStyle> => {
			const path = pathOf(prefix, ["datasets"], { page: 1, page_size: 1 });
			const read = (envelope: ParsedEnvelope): DatasetListStyle => {
				decode.datasets(envelope);
				return datasetListStyle(envelope);
			};
			return call("GET", path, read, { limit: listLimit, isProbe: true, signal }).catch(notTheApi);
		},
		probeUpdate: async (verb, signal): Promise<ProbeAnswer> => {
			const path = pathOf(prefix, ["datasets", UNKNOWN_ID, "documents", UNKNOWN_ID]);
			const json = { body: "{}", headers: ["content-type", "application/json"] };
			return exchange(verb, path, (answer) => readProbe(answer, flavour, place), { ...json, isProbe: true, signal });
		},
		probeRight: async (datasetId, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents", UNKNOWN_ID]);
			const { type, body } = updateForm(form, new Map(), boundary);
			const read = (answer: Answer): "may" | "may_not" | "unknown" => readRight(answer, flavour, place);
			return exchange(flavour.update.verb, path, read, {
				body,
				headers: ["content-type", type],
				isProbe: true,
				signal,
			});
		},
		close: () => transport.close(),
	};
}

/** Every service of this API lists and makes datasets: where there is no such path, something else answers. */
function notTheApi(error: unknown): never {
	if (!(error instanceof RestError) || error.code !== "NOT_FOUND") throw error;
	const text = `${error.message}: this is not the API; the address must end where /api/v1 begins`;
	throw new RestError(text, { kind: "not_the_api", code: "NOT_THE_API", status: error.status, cause: error });
}

function placeOf(options: ApiOptions): ErrorContext {
	const { host } = new URL(options.baseUrl);
	// The host alone: a proxy's address may carry a password.
	const through = options.proxy === undefined ? "" : ` (through the proxy ${new URL(options.proxy.uri).host})`;
	return { host: `${host}${through}`, redact: redactor(options.key) };
}
