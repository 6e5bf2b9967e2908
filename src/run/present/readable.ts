import type { Request } from "../types.ts";
import { firstDocuments } from "../lists/documents.ts";
import type { Service } from "../service/service.ts";

/**
 * Whether the list of a dataset shows metadata at all.
 *
 * A document that never had any may be listed without, so one that shows some is enough; of a dataset without documents
 * nothing is known that speaks against it.
 */
export async function showsMetadata(service: Service, request: Request, datasetId: string): Promise<boolean> {
	const { items } = (await firstDocuments(await service.known(request), request, datasetId)).first;
	return items.length === 0 || items.some(({ metadata }) => metadata !== undefined);
}
