import { redactor } from "../text/redactor.ts";
import { show } from "../text/show.ts";
import { decoded, type ParsedEnvelope, type RawAnswer } from "./answer.ts";
import { openUpload, updateBody } from "./bodies.ts";
import { notTheApi } from "./classify.ts";
import { Decoder } from "./decode.ts";
import { type ErrorContext, RestError } from "./errors.ts";
import type { DatasetListStyle, ProbeAnswer } from "./flavours.ts";
import { datasetListStyle, readProbe, readRight, UNKNOWN_ID } from "./probe.ts";
import { notListed, removalOf } from "./removal.ts";
import { LIST_BYTES } from "./attempt.ts";
import { documentCalls, JSON_TYPE, type PageCounter, Requests, type Service } from "./requests.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import type { Api, Dataset, Dialect, Document, ListedDocument, Page, StoredFile, UploadFile } from "./types.ts";
import { documentParameters, pathOf, segment } from "./url.ts";

type ApiOptions = Omit<TransportOptions, "origin" | "headers"> & {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** as `Settings.key` gives it */
	readonly key: string;
	readonly dialect: Dialect;
	/** called after each piece of a file that went out or came in */
	readonly onBytes?: ((bytes: number) => void) | undefined;
	/** counts the pages of lists */
	readonly lists?: PageCounter;
};

/** The API of one service. Opens no connection before the first request. */
export function createApi(options: ApiOptions): Api {
	const { origin, pathname: prefix } = new URL(options.baseUrl);
	const context = errorContextOf(options);
	const headers = ["authorization", `Bearer ${options.key}`, "accept-encoding", "identity", "user-agent", "ragtag"];
	const service: Service = {
		prefix,
		context,
		transport: new Transport({ ...options, origin, headers }, context),
		decode: new Decoder(context),
		onBytes: options.onBytes,
		lists: options.lists ?? { page: (_what, _page, request) => request() },
		listed: new WeakSet(),
		isKeyAccepted: false,
	};
	return apiIn(options.dialect, service);
}

function apiIn(dialect: Dialect, service: Service): Api {
	const { context, decode, listed, lists, onBytes, prefix } = service;
	const { flavour, form } = dialect;
	const requests = new Requests(dialect, service);

	async function upload(datasetId: string, file: UploadFile): Promise<StoredFile> {
		const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"]);
		const opened = await openUpload(file, onBytes);
		try {
			const contentHeaders = ["content-type", opened.type, "content-length", String(opened.length)];
			const request = { body: opened.body, headers: contentHeaders, isPatient: true };
			return await requests.call("POST", path, (envelope) => decode.stored(envelope, file), request);
		} finally {
			opened.body.destroy();
			await opened.close();
		}
	}

	async function remove(documents: readonly ListedDocument[]): Promise<void> {
		for (const document of documents) if (!listed.has(document)) throw notListed(document);
		const { path, ...content } = removalOf(flavour.removal, prefix, documents);
		const ids = documents.map(({ id }) => id);
		const read = (envelope: ParsedEnvelope): void => decode.removed(envelope, ids, flavour.removal);
		return requests.call("DELETE", path, read, { ...content, only: flavour.removal });
	}

	return {
		dialect,
		as: (other) => apiIn(other, service),
		listDatasets: async ({ page, pageSize }) => {
			const path = pathOf(prefix, ["datasets"], { page, page_size: pageSize });
			const read = (envelope: ParsedEnvelope): Page<Dataset> => decode.datasets(envelope);
			const request = () => requests.call("GET", path, read, { limit: LIST_BYTES }).catch(unlessFound);
			return lists.page("datasets", page, request);
		},
		createDataset: async (name) => {
			const body = { body: JSON.stringify({ name }), headers: JSON_TYPE };
			const path = pathOf(prefix, ["datasets"]);
			return requests.call("POST", path, (envelope) => decode.created(envelope), body).catch(unlessFound);
		},
		listDocuments: async (datasetId, query) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "documents"], documentParameters(query));
			const read = (envelope: ParsedEnvelope): Page<Document> => decode.documents(envelope, datasetId);
			const request = () => requests.call("GET", path, read, { limit: LIST_BYTES });
			// A question about some documents is no list.
			const isAll = (query.id ?? query.ids ?? query.name) === undefined;
			const page = await (isAll ? lists.page(`documents of ${show(datasetId)}`, query.page, request) : request());
			for (const document of page.items) listed.add(document);
			return page;
		},
		uploadDocument: upload,
		...documentCalls(requests),
		removeDocument: (document) => remove([document]),
		removeTogether: remove,
		probeList: async (): Promise<DatasetListStyle> => {
			const path = pathOf(prefix, ["datasets"], { page: 1, page_size: 1 });
			const read = (envelope: ParsedEnvelope): DatasetListStyle => {
				decode.datasets(envelope);
				return datasetListStyle(envelope);
			};
			return requests.call("GET", path, read, { limit: LIST_BYTES, isProbe: true }).catch(unlessFound);
		},
		probeUpdate: async (verb): Promise<ProbeAnswer> => {
			const path = requests.documentPath(UNKNOWN_ID, UNKNOWN_ID);
			const read = (answer: RawAnswer): ProbeAnswer => readProbe(decoded(answer), flavour, context);
			return service.transport.send({ method: verb, path, read, body: "{}", headers: JSON_TYPE, isProbe: true });
		},
		probeRight: async (datasetId) => {
			const path = requests.documentPath(datasetId, UNKNOWN_ID);
			const { type, body } = updateBody(form, new Map());
			const read = (answer: RawAnswer): ReturnType<typeof readRight> => readRight(decoded(answer), flavour, context);
			const probe = { path, body, headers: ["content-type", type], isProbe: true, read };
			return service.transport.send({ ...probe, method: flavour.update.verb });
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
