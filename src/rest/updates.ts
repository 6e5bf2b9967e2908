import { isJsonObject, type Metadata } from "../json/values.ts";
import { decoded, type ParsedEnvelope } from "./answer.ts";
import { updateBody } from "./bodies.ts";
import type { Decoder } from "./decode.ts";
import { metadataLost } from "./errors.ts";
import type { Requests } from "./requests.ts";
import type { Api, Echo } from "./types.ts";

/** The updates in one dialect: nearly every request of a run. */
export function updates(
	requests: Requests,
	decode: Pick<Decoder, "echo">,
	boundary: (payload: string) => string,
): Api["updateMetadata"] {
	const { flavour, form } = requests.dialect;
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

	return async (datasetId, documentId, metadata) => {
		const path = requests.documentPath(datasetId, documentId);
		const { type, body } = updateBody(form, metadata, boundary);
		const content = { headers: ["content-type", type], body };
		return requests.send(
			verb,
			path,
			(answer) => echoOf(requests.success(decoded(answer), path, verb), documentId, metadata),
			content,
		);
	};
}
