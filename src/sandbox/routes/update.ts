import type { IncomingMessage } from "node:http";
import { jsonObject, mediaType, readBody } from "../body.ts";
import { Refusal } from "../envelope.ts";
import { membersText, rawMembers } from "../members.ts";
import { hasBoundary, type Part, readParts } from "../multipart.ts";
import { isObject } from "../object.ts";
import type { BusboyClass } from "../optional.ts";
import { jsonBodyLimit } from "../settings.ts";
import { notFound, type Route } from "./call.ts";

/** PUT /datasets/<dataset_id>/documents/<document_id> */
export const updateDocument: Route = async (call, { store, settings, busboy, updated }) => {
	const { request, datasetId, documentId } = call;
	const sent = metadataOf(await updateBody(request, busboy));
	await store.commits.write(() => {
		let members = sent;
		if (settings.update === "merge") {
			const present = store.documents.metadata(datasetId, documentId);
			if (present === undefined) throw notFound(store, call);
			members = new Map([...rawMembers(present), ...sent]);
		}
		if (!store.documents.replaceMetadata(datasetId, documentId, membersText(members))) throw notFound(store, call);
	});
	updated();
	return JSON.stringify({ document_id: documentId });
};

/** The JSON of an update in any of its forms, told apart by the header. */
async function updateBody(request: IncomingMessage, busboy: BusboyClass): Promise<Buffer> {
	const type = mediaType(request);
	if (type !== "multipart/form-data" && type !== "application/json")
		throw new Refusal(415, "an update is sent as multipart/form-data or application/json");
	if (type === "application/json" || !hasBoundary(request)) return readBody(request, jsonBodyLimit);

	const chunks: Buffer[] = [];
	let parts = 0;
	const open = (part: Part): ((bytes: Buffer) => void) => {
		if (++parts > 1) throw new Refusal(400, "the body has more than one part");
		checkPart(part);
		return (bytes) => chunks.push(bytes);
	};
	await readParts(request, { busboy, limit: jsonBodyLimit, open });
	if (parts === 0) throw new Refusal(400, "the body has no part");
	return Buffer.concat(chunks);
}

/** The part form is documented to the letter, so anything beside it is refused: a client's mistake must show. */
function checkPart({ name, fileName, mediaType: type }: Part): void {
	if (name !== "") throw new Refusal(400, 'the part of an update has an empty name: name=""');
	if (fileName !== "") throw new Refusal(400, 'the part of an update has an empty file name: filename=""');
	if (type !== "application/json") throw new Refusal(400, "the part of an update is application/json");
}

function metadataOf(body: Buffer): Map<string, string> {
	const { text, members } = jsonObject(body);
	if (!Object.hasOwn(members, "meta_fields")) throw new Refusal(400, "meta_fields is missing");
	if (!isObject(members["meta_fields"])) throw new Refusal(400, "meta_fields is not an object");
	return rawMembers(rawMembers(text).get("meta_fields") ?? "{}");
}
