import type { Method } from "./attempt.ts";
import { decoded, headerValues, type ParsedEnvelope, type RawAnswer, readEnvelope } from "./answer.ts";
import { RestError } from "./errors.ts";
import type { FlavourRequest } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { Api, Dialect } from "./types.ts";
import { pathOf, segment } from "./url.ts";

type Body = { readonly body: string; readonly only?: FlavourRequest; readonly signal: AbortSignal | undefined };

type DocumentCallsOptions = {
	readonly dialect: Dialect;
	/** of every path */
	readonly prefix: string;
	/** of every request, names and values in turn */
	readonly headers: readonly string[];
	/** the largest accepted answer that is no file, in bytes */
	readonly limit: number;
	readonly transport: Pick<Transport, "send">;
	/** the envelope of a success; throws the error that any other answer means */
	readonly success: (answer: RawAnswer, path: string) => ParsedEnvelope;
	/** called after each piece of a file that came */
	readonly onBytes: ((bytes: number) => void) | undefined;
	/** sends one JSON body, and reads the envelope of its success */
	readonly call: (method: Method, path: string, read: (envelope: ParsedEnvelope) => void, body: Body) => Promise<void>;
	/** throws where an envelope names another document */
	readonly echo: (envelope: ParsedEnvelope, documentId: string) => void;
};

/** The calls of one document that the documented API does not have: `Flavour.calls` says who has which. */
export function documentCalls(
	options: DocumentCallsOptions,
): Pick<Api, "downloadDocument" | "renameDocument" | "changeParsing" | "parseDocuments"> {
	const { dialect, prefix, headers, limit, transport, success, call, echo, onBytes } = options;
	const documentPath = (datasetId: string, documentId: string): string =>
		pathOf(prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);

	return {
		downloadDocument: async ({ datasetId, id, size }, sink, signal) => {
			const path = documentPath(datasetId, id);
			let count = 0;
			const write = async (bytes: Buffer): Promise<void> => {
				await sink(bytes);
				count += bytes.length;
				onBytes?.(bytes.length);
			};
			return transport.send({
				method: "GET",
				path,
				headers: headers.map((value, at) => (headers[at - 1] === "accept" ? "*/*" : value)),
				body: null,
				limit,
				isPatient: true,
				isProbe: false,
				signal,
				sink: { takes: isFile, write },
				read: (answer) => {
					if (isFile(answer) || (size === 0 && saysNoBytes(answer))) return count;
					success(answer, path);
					throw new RestError("the service answered with a success that is no file", {
						kind: "ambiguous",
						code: "BAD_DATA",
						status: answer.status,
					});
				},
			});
		},
		renameDocument: async (datasetId, documentId, name, signal) => {
			const { verb } = dialect.flavour.update;
			// `name` alone: up to v0.24 other members are written although the name is refused (RAGFlow v0.24.0
			// api/apps/sdk/doc.py: update_doc).
			const body = { body: JSON.stringify({ name }), only: verb, signal };
			return call(verb, documentPath(datasetId, documentId), (envelope) => echo(envelope, documentId), body);
		},
		changeParsing: async (datasetId, documentId, change, signal) => {
			const { verb } = dialect.flavour.update;
			const body = { body: JSON.stringify(change), only: verb, signal };
			// RAGFlow v0.20 to v0.22 answer `data: true` (api/apps/sdk/doc.py: update_doc), so no answer is asked for its document.
			return call(verb, documentPath(datasetId, documentId), () => undefined, body);
		},
		parseDocuments: async (datasetId, documentIds, signal) => {
			const path = pathOf(prefix, ["datasets", segment(datasetId), "chunks"]);
			const body = JSON.stringify({ document_ids: documentIds });
			// Its data counts differently in each release. The list alone shows what was started.
			return call("POST", path, () => undefined, { body, signal });
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
	const envelope = readEnvelope(decoded(answer).text);
	if (typeof envelope === "string") return false;
	return /\b(?:file|document) is empty\b|\bfailed to download document\b/i.test(envelope.message ?? "");
}
