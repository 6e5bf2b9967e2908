import type { Metadata } from "../../json/values.ts";
import { type BeforeImage, type BeforeImages, imageOf } from "../documents/before-images.ts";
import { hasAlready, holds, missingKeys, sameMetadata } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { type Write, writeMetadata } from "../service/write.ts";
import type { Work } from "../types.ts";
import { mayHaveArrived, type Operation, type RowAttempt, type SentLog } from "./operation.ts";
import {
	type ById,
	type PreparedUpdate,
	prepareUpdate,
	seenDocuments,
	type UpdateItem,
	type UpdatePlan,
} from "./prepare-update.ts";
import { afterRefusal } from "./refused-metadata.ts";
import { RemovedKeys } from "./removed-keys.ts";

/** What documents have before their rows are written. */
type Before = {
	/** what an undo restores; undefined where that is not to be read */
	readonly images?: BeforeImages | undefined;
	/** shows which rows change nothing, where no row has proved yet that updates arrive */
	readonly documents?: ById;
};

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(
	service: Service,
	{ images, documents }: Before,
	log: SentLog,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	/** the write of the first row of which it is doubted that its document has no metadata */
	let firstDoubted: Promise<void> | undefined;
	return async (item, request, memory) => {
		const { api } = service;
		const attempt = { service, request, item, memory, log };
		const { documentId, metadata } = item;
		if (images !== undefined && memory.beforeImage === undefined) await readBefore(attempt, images);
		if (images === undefined && documents !== undefined && !service.canary.trustsSuccess) {
			memory.readBefore = () => documents.byId(api, request, item.datasetId, documentId);
		}
		const isDoubted = memory.before?.document?.isDoubted === true && memory.logged === undefined;
		if (images !== undefined && isDoubted && firstDoubted !== undefined) {
			// What the first of them wrote shows whether searches work.
			await firstDoubted.catch(() => undefined);
			delete memory.before;
			await readBefore(attempt, images);
		}
		const written = writeOrRestore(attempt, item, memory.beforeImage?.metadata);
		if (images !== undefined && isDoubted) firstDoubted ??= written;
		await written;
		const before = memory.beforeImage?.metadata;
		const removed = missingKeys(before ?? memory.before?.document?.metadata, metadata);
		if (removed.length > 0) await removedKeys.check(request, item, removed);
		// Where an earlier execution sent something, the document may have had that.
		const isKnown = before !== undefined && log.earlier(item.index) === undefined;
		const isSame = isKnown && hasAlready(before, metadata, service.api.dialect.flavour.normalise);
		return { status: "updated", documentId, isSame: isSame ? true : undefined };
	};
}

/** Reads what the document has, and writes what the plan makes of it and the row; with `onlyChanged` only what differs. */
export function planMetadata<Item extends UpdateItem>(
	service: Service,
	{ onlyChanged, ...plan }: UpdatePlan & { readonly onlyChanged: boolean },
	log: SentLog,
): Operation<Item> {
	const prepare = (attempt: RowAttempt<Item>): Promise<PreparedUpdate> => {
		const documents = seenDocuments(plan.documents, attempt);
		return prepareUpdate(service, attempt.request, attempt.item, { ...plan, documents });
	};
	return writePrepared({ service, log, prepare, onlyChanged });
}

type Preparing<Item extends Work> = Pick<RowAttempt, "service" | "log"> & {
	/** reads the document of a row, and computes what is sent to it */
	readonly prepare: (attempt: RowAttempt<Item>) => Promise<PreparedUpdate>;
	/** whether a document that has it already is left alone */
	readonly onlyChanged: boolean;
};

/** Writes what is prepared for each row. */
export function writePrepared<Item extends Work>({
	service,
	log,
	prepare,
	onlyChanged,
}: Preparing<Item>): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	return async (item, request, memory) => {
		const { documentId } = item;
		const attempt = { service, request, item, memory, log };
		const prepared = await prepare(attempt);
		// If an earlier attempt was sent and its answer was lost, this run itself may have changed the document.
		const isOurs = mayHaveArrived(memory) || log.earlier(item.index) !== undefined;
		const { isSame } = prepared;
		const isKnown = prepared.document.isDoubted !== true;
		if (onlyChanged && isSame && isKnown) return { status: isOurs ? "updated" : "unchanged", documentId };
		await sendPrepared(attempt, prepared, removedKeys);
		return { status: "updated", documentId, ...(isSame && !isOurs ? { isSame } : {}) };
	};
}

/** Records and writes a prepared update, and checks that it removed the keys that it does not carry. */
export async function sendPrepared(
	attempt: RowAttempt,
	prepared: Pick<PreparedUpdate, "document" | "present" | "metadata">,
	removedKeys: RemovedKeys,
): Promise<void> {
	const { request, item, memory } = attempt;
	const { datasetId, documentId } = item;
	const { present, metadata } = prepared;
	memory.beforeImage = beforeImageOf(attempt, prepared);
	await writeOrRestore(attempt, { datasetId, documentId, metadata }, memory.beforeImage.metadata);
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
	if (isOwn && memory.beforeImage !== undefined) return memory.beforeImage;
	return imageOf(service, item.documentId, document, present);
}

/** Reads the before-image of the document into the memory of the row, unless an earlier attempt has. */
async function readBefore({ request, item, memory }: RowAttempt, images: BeforeImages): Promise<void> {
	const image = await images.of(request, item.datasetId, item.documentId);
	const { document } = image;
	memory.beforeImage = image;
	if (document !== undefined) memory.before ??= { document };
	memory.name ??= document?.name;
}

/**
 * Records and writes metadata. If the service refuses it and has removed what the document had, that is written again.
 *
 * @param image what the document had; undefined where that is not known
 * @throws RestError
 */
export async function writeOrRestore(attempt: RowAttempt, write: Write, image: Metadata | undefined): Promise<void> {
	const { service, request, item, memory } = attempt;
	if (memory.logged !== write.metadata) await recordUpdate(attempt, write);
	for (let tries = 0; ; tries += 1) {
		try {
			if (!mayBeFirst(service, write, image)) await writeMetadata(service, request, write, memory);
			else await service.firstWrites.send(() => writeMetadata(service, request, write, memory));
			// A later refusal is explained by the rows that gave keys their types.
			if (service.api.dialect.flavour.hasSearchEngine) service.typedKeys.addRow(write.metadata, item.line);
			return;
		} catch (error) {
			if (await afterRefusal(error, attempt, write, { image, tries })) return;
		}
	}
}

/** Whether an update may give the document its first metadata, at a server that it holds then. */
function mayBeFirst({ api }: Service, { metadata }: Write, image: Metadata | undefined): boolean {
	return api.dialect.flavour.hasSlowFirstWrites && metadata.size > 0 && (image === undefined || image.size === 0);
}

/** Records an update before it is sent. Another record follows only where other metadata is sent. */
async function recordUpdate({ item, memory, log }: RowAttempt, { documentId, metadata }: Write): Promise<void> {
	if (memory.logged !== undefined && sameMetadata(memory.logged, metadata)) return;
	await log.sending(item, { write: "update", documentId, metadata, before: memory.beforeImage?.metadata });
	memory.logged = metadata;
}
