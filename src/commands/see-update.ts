import type { Session } from "../app.ts";
import { look, type UpdateItem, type UpdatePlan } from "../run/operations/look.ts";
import type { Present } from "../run/present/present.ts";
import type { Seen } from "./dry-run.ts";

/** What a row that is laid over its document would do to it. */
export function seeUpdate(plan: Omit<UpdatePlan, "present">) {
	return async (item: UpdateItem, { service, request }: Session, present: Present): Promise<Seen> => {
		const looked = await look(service, request, item, { ...plan, present });
		const { documentId } = item;
		if (looked.isSame) return { action: "none", documentId };
		return { action: "update", documentId, present: looked.present, metadata: looked.metadata };
	};
}
