import { isJsonObject, type Metadata } from "../json/values.ts";
import { type Answer, decoded, headerValues, type ParsedEnvelope, type RawAnswer } from "./answer.ts";
import type { Call, Method } from "./attempt.ts";
import { updateBody } from "./bodies.ts";
import { classifyAnswer, errorOfRoute } from "./classify.ts";
import type { Decoder } from "./decode.ts";
import { type ErrorContext, type FlavourRequest, metadataLost, RestError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { Api, Dialect, Echo, ListedDocument, Page } from "./types.ts";
import { pathOf, segment } from "./url.ts";

export const JSON_TYPE = ["content-type", "application/json"];

/** Asks for a page, from 1, and counts its entries. @param what is listed: `documents of DATASET` */
export type PageCounter = {
	page<Listed extends Page<unknown>>(what: string, page: number, request: () => Promise<Listed>): Promise<Listed>;
};

/** The parts that the dialects of one service share. */
export type Service = {
	readonly context: ErrorContext;
	readonly transport: Pick<Transport, "send" | "close">;
	readonly decode: Decoder;
	/** called after each piece of a file that went out or came in */
	readonly onBytes: ((bytes: number) => void) | undefined;
	/** counts the pages of lists */
	readonly lists: PageCounter;
	/** of every path */
	readonly prefix: string;
	/** the documents that its lists have shown; no others can be removed */
	readonly listed: WeakSet<ListedDocument>;
	/** whether it has accepted the key */
	isKeyAccepted: boolean;
};

type CallOptions = Pick<Call<unknown>, "body" | "headers" | "limit" | "isPatient" | "isProbe"> & {
	/** the request, if other flavours send another */
	readonly only?: FlavourRequest;
};

/** What the requests of one dialect share: paths, and how a success differs from any other answer. */
export class Requests {
	readonly dialect: Dialect;
	readonly service: Service;

	constructor(dialect: Dialect, service: Service) {
		this.dialect = dialect;
		this.service = service;
	}

	/** @throws RestError `BAD_ID` (rejected; nothing was sent) */
	documentPath(datasetId: string, documentId: string): string {
		return pathOf(this.service.prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
	}

	/** Sends one request, and reads the envelope of its success. */
	call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		{ only, ...more }: CallOptions,
	): Promise<Result> {
		return this.service.transport.send({
			...more,
			method,
			path,
			read: (answer) => read(this.success(decoded(answer), path, only)),
		});
	}

	/** The envelope of a success. @throws RestError that any other answer means */
	success(answer: Answer, path: string, only?: FlavourRequest): ParsedEnvelope {
		const { context, isKeyAccepted } = this.service;
		const { flavour } = this.dialect;
		const envelope = classifyAnswer(answer, { flavour, context, now: Date.now(), isKeyAccepted });
		if (envelope instanceof RestError) throw errorOfRoute(envelope, answer, path, only);
		this.service.isKeyAccepted = true;
		return envelope;
	}
}

/** The calls of one document. All but the update are missing in the documented API: `Flavour.calls` says who has which. */
export function documentCalls(
	requests: Requests,
): Pick<Api, "updateMetadata" | "downloadDocument" | "renameDocument" | "changeParsing" | "parseDocuments"> {
	const { flavour, form } = requests.dialect;
	const { transport, decode, onBytes, prefix } = requests.service;
	const { verb } = flavour.update;
	/** whether an answer has shown the metadata of its document; not every release does */
	let hasShown = false;

	/**
	 * RAGFlow shows the metadata of the document up to v0.23, and from v1.0 on where there is any.
	 *
	 * @throws RestError where earlier answers showed it, and this one shows that none was kept
	 */
	function echoOf(envelope: ParsedEnvelope, documentId: string, metadata: Metadata): Echo {
		const echo = decode.echo(envelope, documentId);
		if (echo !== "id") return echo;
		const { data } = envelope;
		if (isJsonObject(data) && isJsonObject(data["meta_fields"])) {
			hasShown = true;
			return "id_and_metadata";
		}
		if (flavour.showsMetadata !== true || !hasShown) return echo;
		if (metadata.size > 0) throw metadataLost({ documentId });
		return "id_and_metadata";
	}

	return {
		updateMetadata: async (datasetId, documentId, metadata) => {
			const path = requests.documentPath(datasetId, documentId);
			const { type, body } = updateBody(form, metadata);
			const read = (answer: RawAnswer): Echo =>
				echoOf(requests.success(decoded(answer), path, verb), documentId, metadata);
			return transport.send({ method: verb, path, headers: ["content-type", type], body, read });
		},
		downloadDocument: async ({ datasetId, id, size }, give) => {
			const path = requests.documentPath(datasetId, id);
			let count = 0;
			const write = async (bytes: Buffer): Promise<void> => {
				await give(bytes);
				count += bytes.length;
				onBytes?.(bytes.length);
			};
			const read = (answer: RawAnswer): number => {
				if (isFile(answer) || (size === 0 && saysNoBytes(answer))) return count;
				requests.success(decoded(answer), path);
				const text = "the service answered with a success that is no file";
				throw new RestError(text, { kind: "ambiguous", code: "BAD_DATA", status: answer.status });
			};
			const sink = { takes: isFile, write };
			return transport.send({ method: "GET", path, accept: "*/*", isPatient: true, sink, read });
		},
		renameDocument: async (datasetId, documentId, name) => {
			// `name` alone: up to v0.24 other members are written although the name is refused (RAGFlow v0.24.0
			// api/apps/sdk/doc.py: update_doc).
			const body = { body: JSON.stringify({ name }), headers: JSON_TYPE, only: verb };
			const read = (envelope: ParsedEnvelope): void => void decode.echo(envelope, documentId);
			return requests.call(verb, requests.documentPath(datasetId, documentId), read, body);
		},
		changeParsing: async (datasetId, documentId, change) => {
			const body = { body: JSON.stringify(change), headers: JSON_TYPE, only: verb };
			// RAGFlow v0.20 to v0.22 answer `data: true` (api/apps/sdk/doc.py: update_doc), so no answer is asked for its document.
			return requests.call(verb, requests.documentPath(datasetId, documentId), () => undefined, body);
		},
		parseDocuments: async (datasetId, documentIds) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "chunks"]);
			const body = JSON.stringify({ document_ids: documentIds });
			// Its data counts differently in each release. The list alone shows what was started.
			return requests.call("POST", path, () => undefined, { body, headers: JSON_TYPE });
		},
	};
}

/**
 * A file may be JSON itself, and errors have status 200: this header alone stands on every file and on no error (RAGFlow
 * v0.18 api/apps/sdk/doc.py: download, to v0.27 api/apps/restful_apis/document_api.py; v1.0 internal/handler/document.go).
 */
function isFile({ status, headers }: Pick<RawAnswer, "status" | "headers">): boolean {
	if (status < 200 || status > 299) return false;
	return headerValues(headers, "content-disposition").some((value) => /^\s*attachment\b/i.test(value));
}

/**
 * The answer for a file of 0 bytes. The same words also mean that the object is missing, so they say nothing of a document
 * with another size (RAGFlow v0.27.0 api/apps/restful_apis/document_api.py: download; v1.0 internal/handler/document.go).
 */
function saysNoBytes(answer: RawAnswer): boolean {
	const { envelope } = decoded(answer);
	if (typeof envelope === "string") return false;
	return /\b(?:file|document) is empty\b|\bfailed to download document\b/i.test(envelope.message ?? "");
}
