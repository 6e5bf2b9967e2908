import type { Metadata } from "../../json/values.ts";
import { type BeforeImages, keysText, restorable } from "../documents/before-images.ts";
import { hasAlready, holds, sameMetadata } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Request, Work } from "../types.ts";
import { prepareUpdate, type PreparedUpdate, type UpdateItem, type UpdatePlan } from "./prepare-update.ts";
import { anew, type Memory, type Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";
import { RestError } from "../../rest/errors.ts";
import { findDocument } from "../documents/find-document.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import { SerialQueue } from "../service/canary.ts";

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
		// What an earlier execution sent may be what was seen there.
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
		const { document, present, metadata, isSame } = await prepareUpdate(service, request, item, plan);
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
	{ documentId, document, present }: Pick<Work, "documentId"> & Pick<PreparedUpdate, "document" | "present">,
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

/**
 * Sees that keys go which an update does not carry. The documentation leaves open whether an update replaces what a
 * document has, and RAGFlow v0.24.0 on Elasticsearch merges (es.update in api/db/services/doc_metadata_service.py): it
 * answers success and keeps the keys. One document that has lost its keys is enough to know.
 */
export class RemovedKeys {
	readonly #service: Service;
	/** Rows in flight wait for the first of them: each would ask the same question. */
	readonly #turns = new SerialQueue();
	#isSeen = false;
	/** A document kept its keys however long the list was given: the next ones are read once. */
	#isKept = false;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Looks at a document that was written.
	 *
	 * @param before what it had; undefined where that is not known, and nothing can be checked
	 * @param sent what it was sent
	 * @throws RestError of code `KEYS_KEPT` where it still has what it was to lose
	 */
	async check(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		before: Metadata | undefined,
		sent: Metadata,
	): Promise<void> {
		const removed = Array.from(before?.keys() ?? []).filter((key) => !sent.has(key));
		if (removed.length === 0) return;
		await this.#turns.take(async () => {
			if (!this.#isSeen) await this.#readBack(request, { datasetId, documentId }, removed);
		});
	}

	async #readBack(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		removed: readonly string[],
	): Promise<void> {
		const service = this.#service;
		let kept: readonly string[] = [];
		const areGone = async (): Promise<boolean> => {
			const document = await findDocument(await service.known(request), request, datasetId, documentId);
			// What no list shows can't be judged; that is said of what is written, too.
			if (document === undefined) return false;
			kept = removed.filter((key) => document.metadata?.has(key) === true);
			return kept.length === 0;
		};
		const delays = this.#isKept ? READ_BACK_DELAYS_MS.slice(0, 1) : READ_BACK_DELAYS_MS;
		this.#isSeen = await readBack(areGone, { clock: service.clock, delays });
		if (kept.length === 0) return;
		this.#isKept = true;
		const text = `document ${service.show(documentId)} was written, and keeps keys that were to be removed (${keysText(service, kept)}): this service keeps keys that an update does not have`;
		throw new RestError(text, { kind: "rejected", code: "KEYS_KEPT" });
	}
}
