import type { Metadata } from "../../json.ts";
import { sameMetadata } from "../service/read-back.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Work } from "../types.ts";
import { look, type UpdateItem, type UpdatePlan } from "./look.ts";
import type { Memory, Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(service: Service, log: SentLog = unrecorded): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId, metadata } = item;
		await logged(item, metadata, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}

/** Looks at what the document has, and writes what the plan makes of it and the row; with `onlyChanged` only what differs. */
export function planMetadata<Item extends UpdateItem>(
	service: Service,
	{ onlyChanged, ...plan }: UpdatePlan & { readonly onlyChanged: boolean },
	log: SentLog = unrecorded,
): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId } = item;
		const { document, metadata, isSame } = await look(service, request, item, plan);
		memory.before ??= { document };
		if (onlyChanged && isSame) {
			// Where this run has sent it already, and its answer was lost, it is this run that changed the document.
			const isOurs = memory.logged !== undefined || log.earlier(item.index) !== undefined;
			return { status: isOurs ? "updated" : "unchanged", documentId };
		}
		await logged(item, metadata, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}

/** Writes down what is about to be sent, once: a record is what was really sent, so another one follows where that differs. */
async function logged(item: Work, metadata: Metadata, memory: Memory, log: SentLog): Promise<void> {
	if (memory.logged !== undefined && sameMetadata(memory.logged, metadata)) return;
	await log.sending(item, { what: "update", documentId: item.documentId, metadata });
	memory.logged = metadata;
}
