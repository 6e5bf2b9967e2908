import type { Request } from "../types.ts";
import { firstDocuments } from "./list.ts";
import type { ServiceVoice } from "./service-voice.ts";

/**
 * Whether the list of a dataset shows metadata at all.
 *
 * A document that never had any may be listed without, so one that shows some is enough; of a dataset without documents
 * nothing is known that speaks against it.
 */
export async function showsMetadata(service: ServiceVoice, request: Request, datasetId: string): Promise<boolean> {
	const { items } = (await firstDocuments(await service.known(request), request, datasetId)).first;
	return items.length === 0 || items.some(({ metadata }) => metadata !== undefined);
}
