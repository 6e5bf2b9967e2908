import pLimit from "p-limit";
import type { Metadata } from "../../json/values.ts";
import { type BeforeImage, type BeforeImages, imageOf } from "../documents/before-images.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument } from "../documents/find-document.ts";
import { MARK_AT_ONCE } from "../documents/searches.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import { hasAlready, holds, keysKept, missingKeys, sameMetadata } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { mayHaveArrived, type Operation, type RowAttempt, type SentLog, unrecorded } from "./operation.ts";
import {
	type PreparedUpdate,
	prepareUpdate,
	seenDocuments,
	type UpdateItem,
	type UpdatePlan,
} from "./prepare-update.ts";
import { writeOrRestore } from "./refused-metadata.ts";

/** What documents have before their rows are written. */
type Before = {
	/** what an undo restores; undefined where that is not to be read */
	readonly images?: BeforeImages | undefined;
	/** shows which rows change nothing, where no row has proved yet that updates arrive */
	readonly documents?: Pick<DocumentSource, "byId">;
};

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(
	service: Service,
	{ images, documents }: Before = {},
	log: SentLog = unrecorded,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	/** the write of the first row of which it is doubted that its document has no metadata */
	let firstDoubted: Promise<void> | undefined;
	return (item, request, memory) =>
		service.inDialect(request, async (api) => {
			const attempt = { service, request, item, memory, log };
			const { documentId, metadata } = item;
			if (images !== undefined && memory.beforeImage === undefined) await readBefore(attempt, images);
			if (images === undefined && documents !== undefined && !service.canary.trustsSuccess) {
				memory.readBefore = () => documents.byId(api, request, item.datasetId, documentId);
			}
			const write = async (): Promise<void> => {
				if (memory.logged !== metadata) await recordUpdate(attempt, metadata, memory.beforeImage);
				await writeOrRestore(attempt, item, memory.beforeImage?.metadata);
			};
			if (images === undefined || memory.before?.document?.isDoubted !== true || memory.logged !== undefined)
				await write();
			else if (firstDoubted === undefined) await (firstDoubted = write());
			else {
				// What the first of them wrote shows whether searches work.
				await firstDoubted.catch(() => undefined);
				delete memory.before;
				await readBefore(attempt, images);
				await write();
			}
			const before = memory.beforeImage?.metadata;
			const removed = missingKeys(before ?? memory.before?.document?.metadata, metadata);
			if (removed.length > 0) await removedKeys.check(request, item, removed);
			// Where an earlier execution sent something, the document may have had that.
			const isKnown = before !== undefined && log.earlier(item.index) === undefined;
			const isSame = isKnown && hasAlready(before, metadata, service.api.dialect.flavour.normalise);
			return { status: "updated", documentId, isSame: isSame ? true : undefined };
		});
}

/** Reads what the document has, and writes what the plan makes of it and the row; with `onlyChanged` only what differs. */
export function planMetadata<Item extends UpdateItem>(
	service: Service,
	{ onlyChanged, ...plan }: UpdatePlan & { readonly onlyChanged: boolean },
	log: SentLog = unrecorded,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	return (item, request, memory) =>
		service.inDialect(request, async () => {
			const attempt = { service, request, item, memory, log };
			const { documentId } = item;
			const documents = seenDocuments(plan.documents, attempt);
			const prepared = await prepareUpdate(service, request, item, { ...plan, documents });
			// If an earlier attempt was sent and its answer was lost, this run itself may have changed the document.
			const isOurs = mayHaveArrived(memory) || log.earlier(item.index) !== undefined;
			const { isSame } = prepared;
			const isKnown = prepared.document.isDoubted !== true;
			if (onlyChanged && isSame && isKnown) return { status: isOurs ? "updated" : "unchanged", documentId };
			await sendPrepared(attempt, prepared, removedKeys);
			return { status: "updated", documentId, ...(isSame && !isOurs ? { isSame } : {}) };
		});
}

/** Records and writes a prepared update, and checks that it removed the keys that it does not carry. */
export async function sendPrepared(
	attempt: RowAttempt,
	prepared: PreparedUpdate,
	removedKeys: RemovedKeys,
): Promise<void> {
	const { request, item, memory } = attempt;
	const { datasetId, documentId } = item;
	const { present, metadata } = prepared;
	await recordUpdate(attempt, metadata, beforeImageOf(attempt, prepared));
	await writeOrRestore(attempt, { datasetId, documentId, metadata }, memory.beforeImage?.metadata);
	await removedKeys.check(request, item, missingKeys(present, metadata));
}

/**
 * The before-image of the document, which is not what an earlier attempt of this run wrote. Undefined if it came
 * rounded.
 */
function beforeImageOf(
	{ service, item, memory }: RowAttempt,
	{ document, present }: Pick<PreparedUpdate, "document" | "present">,
): BeforeImage {
	memory.before ??= { document };
	const { normalise } = service.api.dialect.flavour;
	const isOwn = memory.logged !== undefined && holds(document, memory.logged, normalise);
	if (!isOwn || memory.beforeImage === undefined) {
		memory.beforeImage = imageOf(service, item.documentId, document, present);
	}
	return memory.beforeImage;
}

/** Reads the before-image of the document into the memory of the row, unless an earlier attempt has. */
async function readBefore({ request, item, memory }: RowAttempt, images: BeforeImages): Promise<void> {
	const image = await images.of(request, item.datasetId, item.documentId);
	const { document } = image;
	memory.beforeImage = image;
	if (document !== undefined) memory.before ??= { document };
	memory.name ??= document?.name;
}

/** Records an update before it is sent. Another record follows only where other metadata is sent. */
async function recordUpdate(
	{ item, memory, log }: RowAttempt,
	metadata: Metadata,
	image: BeforeImage | undefined,
): Promise<void> {
	if (memory.logged !== undefined && sameMetadata(memory.logged, metadata)) return;
	const { documentId } = item;
	await log.sending(item, { what: "update", documentId, metadata, before: image?.metadata, beforeText: image?.text });
	memory.logged = metadata;
}

/**
 * Checks that an update removes the keys that it does not carry. The documentation does not say whether an update
 * replaces what a document has, and RAGFlow v0.24.0 on Elasticsearch merges (es.update in
 * api/db/services/doc_metadata_service.py): it answers success and keeps the keys. One document that has lost its keys
 * is enough to know.
 */
export class RemovedKeys {
	readonly #service: Service;
	/** Rows in flight wait for the first of them: each would ask the same question. */
	readonly #queue = pLimit(1);
	#isConfirmed = false;
	/** A document kept its keys after all delays: the next documents are read once. */
	#isKept = false;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Reads back a document that was written.
	 *
	 * @param removed the keys that the update removes
	 * @throws RestError of code `KEYS_KEPT` where it still has keys that were to be removed
	 */
	async check(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		removed: readonly string[],
	): Promise<void> {
		if (removed.length === 0) return;
		await this.#queue(async () => {
			if (!this.#isConfirmed) await this.#readBack(request, { datasetId, documentId }, removed);
		});
	}

	async #readBack(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		removed: readonly string[],
	): Promise<void> {
		const service = this.#service;
		let kept: readonly string[] = [];
		let isDoubted = false;
		const sure = service.searches.believing(request, MARK_AT_ONCE);
		const areGone = async (): Promise<boolean> => {
			const document = await findDocument(await service.known(request), sure, datasetId, documentId);
			// A document that no list shows can't be checked. The canary has warned of that already.
			if (document === undefined) return false;
			isDoubted = service.searches.marked(document).isDoubted === true;
			kept = removed.filter((key) => document.metadata?.has(key) === true);
			return kept.length === 0;
		};
		const delays = this.#isKept ? READ_BACK_DELAYS_MS.slice(0, 1) : READ_BACK_DELAYS_MS;
		this.#isConfirmed = (await readBack(areGone, { clock: service.clock, delays })) && !isDoubted;
		if (kept.length === 0) return;
		this.#isKept = true;
		throw keysKept(service, documentId, kept);
	}
}
