import { isJsonObject, type Metadata } from "../json/values.ts";
import { decoded, headerValues, type ParsedEnvelope, type RawAnswer } from "./answer.ts";
import { updateBody } from "./bodies.ts";
import { metadataLost, RestError } from "./errors.ts";
import { JSON_TYPE, type Requests } from "./requests.ts";
import type { Api, Echo } from "./types.ts";
import { pathOf, segment } from "./url.ts";

/** The calls of one document. All but the update are missing in the documented API: `Flavour.calls` says who has which. */
export function documentCalls(
	requests: Requests,
): Pick<Api, "updateMetadata" | "downloadDocument" | "renameDocument" | "changeParsing" | "parseDocuments"> {
	const { flavour, form } = requests.dialect;
	const { transport, decode, boundary, onBytes, prefix } = requests.shared;
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
			const { type, body } = updateBody(form, metadata, boundary);
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
				throw new RestError("the service answered with a success that is no file", {
					kind: "ambiguous",
					code: "BAD_DATA",
					status: answer.status,
				});
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
