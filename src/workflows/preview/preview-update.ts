import type { Session } from "../../app.ts";
import { prepareUpdate, type UpdateItem, type UpdatePlan } from "../../run/operations/prepare-update.ts";
import { refuseValues } from "../../run/service/values.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import type { Effect } from "../effect.ts";

/**
 * What a row that is laid over its document would do to it.
 *
 * @param leaves whether the run leaves a document alone that has what would be sent
 */
export function previewUpdate(plan: Omit<UpdatePlan, "present">, leaves: boolean) {
	return async (item: UpdateItem, { service, request }: Session, present: DocumentSource): Promise<Effect> => {
		const looked = await prepareUpdate(service, request, item, { ...plan, present });
		const { documentId } = item;
		if (looked.isSame) return { action: "none", documentId, ...(leaves ? {} : { sent: looked.metadata }) };
		refuseValues(service, looked.metadata);
		const { present: has, document, metadata } = looked;
		return { action: "update", documentId, present: has, inexact: document.inexact, metadata };
	};
}
