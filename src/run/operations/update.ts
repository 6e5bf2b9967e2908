import type { Metadata } from "../../json/values.ts";
import type { BeforeImages } from "../documents/before-images.ts";
import { hasAlready, holds, sameMetadata } from "../service/read-back.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Request, Work } from "../types.ts";
import { restorable } from "../documents/inexact.ts";
import { look, type Looked, type UpdateItem, type UpdatePlan } from "./look.ts";
import { anew, type Memory, type Operation } from "./operation.ts";
import { RemovedKeys } from "./removed-keys.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

/**
 * Writes a row's metadata as it stands.
 *
 * @param images what documents had before; undefined where nobody is to know
 */
export function replaceMetadata<Item extends UpdateItem>(
	service: Service,
	images?: BeforeImages,
	log: SentLog = unrecorded,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	return anew(service, async (item, request, memory) => {
		const { datasetId, documentId, metadata } = item;
		const before = await seenBefore(images, item, request, memory);
		await logged(item, metadata, before, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		await removedKeys.check(request, item, before ?? memory.before?.document?.metadata, metadata);
		// What an earlier sitting sent may be what was seen there.
		const isKnown = before !== undefined && log.earlier(item.index) === undefined;
		const isSame = isKnown && hasAlready(before, metadata, service.api.dialect.flavour.normalise);
		return { status: "updated", documentId, ...(isSame ? { isSame } : {}) };
	});
}

/** Looks at what the document has, and writes what the plan makes of it and the row; with `onlyChanged` only what differs. */
export function planMetadata<Item extends UpdateItem>(
	service: Service,
	{ onlyChanged, ...plan }: UpdatePlan & { readonly onlyChanged: boolean },
	log: SentLog = unrecorded,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	return anew(service, async (item, request, memory) => {
		const { datasetId, documentId } = item;
		const { document, present, metadata, isSame } = await look(service, request, item, plan);
		memory.before ??= { document };
		const before = imageOf(memory, { documentId, document, present }, service);
		// Where this run has sent it already, and its answer was lost, it is this run that changed the document.
		const isOurs = memory.logged !== undefined || log.earlier(item.index) !== undefined;
		if (onlyChanged && isSame) return { status: isOurs ? "updated" : "unchanged", documentId };
		await logged(item, metadata, before, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		await removedKeys.check(request, item, present, metadata);
		return { status: "updated", documentId, ...(isSame && !isOurs ? { isSame } : {}) };
	});
}

/**
 * What the document had before this run wrote it, of what it has now: what an earlier try of ours wrote is not that.
 * Undefined where it came rounded.
 */
export function imageOf(
	memory: Memory,
	{ documentId, document, present }: Pick<Work, "documentId"> & Pick<Looked, "document" | "present">,
	service: Service,
): Metadata | undefined {
	const { normalise } = service.api.dialect.flavour;
	const isOwn = memory.logged !== undefined && holds(document, memory.logged, normalise);
	if (!isOwn || memory.image === undefined) {
		memory.image = { document: undefined, metadata: restorable(service, documentId, document, present) };
	}
	return memory.image.metadata;
}

/** What the document had before this run wrote it; undefined where that is not known. */
async function seenBefore(
	images: BeforeImages | undefined,
	{ datasetId, documentId }: Work,
	request: Request,
	memory: Memory,
): Promise<Metadata | undefined> {
	if (images === undefined) return undefined;
	memory.image ??= await images.of(request, datasetId, documentId);
	const { document, metadata } = memory.image;
	if (document !== undefined) memory.before ??= { document };
	return metadata;
}

/** Writes down what is about to be sent, once: a record is what was really sent, so another one follows where that differs. */
export async function logged(
	item: Work,
	metadata: Metadata,
	before: Metadata | undefined,
	memory: Memory,
	log: SentLog,
): Promise<void> {
	if (memory.logged !== undefined && sameMetadata(memory.logged, metadata)) return;
	await log.sending(item, { what: "update", documentId: item.documentId, metadata, before });
	memory.logged = metadata;
}
