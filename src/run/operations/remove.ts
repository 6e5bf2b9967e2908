import type { RestError } from "../../rest/errors.ts";
import type { Document } from "../../rest/types.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { grouped, type GroupedOperation, type OpenWork, type SentLog, type Settled } from "./operation.ts";
import { Removals } from "./removals.ts";

export type RemovalOptions<Item extends Work> = {
	readonly log: SentLog;
	/** comes before the removal of a row. @returns the row's end where nothing is to be removed */
	readonly before?: (row: OpenWork<Item>, request: Request) => Promise<Settled | undefined>;
	/** the reason why a document that is listed now is left alone; undefined where it may be removed */
	readonly refuse?: (item: Item, document: Document) => RestError | undefined;
};

/**
 * Removes documents, but only those that the dataset's list has shown. Each counts as removed when the list lacks it.
 *
 * The rows of a dataset are read together, removed by few requests where the service removes several documents at once, and
 * confirmed together.
 */
export function removeDocuments<Item extends Work>(
	service: Service,
	options: RemovalOptions<Item>,
): GroupedOperation<Item> {
	const areManyTaken = askedOnce(service);
	return grouped<Item>({
		begin: (rows, request) => {
			for (const { item, memory } of rows) {
				// An earlier execution may have removed it, and been killed before it recorded that.
				memory.maybeRemoved ??= options.log.earlier(item.index) !== undefined;
			}
			const removals = new Removals<Item>(rows, { ...options, service, request, areManyTaken });
			return (row) => removals.end(row);
		},
	});
}

/** Whether the service removes several documents at once. It is asked once, by a request that changes nothing. */
function askedOnce(service: Service): (request: Request) => Promise<boolean> {
	let areTaken: Promise<boolean> | undefined;
	return async (request) => {
		const { removesMany } = (await service.known(request)).dialect.flavour;
		if (removesMany === undefined) return false;
		const asked = (areTaken ??= request(() => service.api.probeUpdate("PUT")).then(removesMany.isSeenBy));
		asked.catch(() => (areTaken = undefined));
		return asked;
	};
}
