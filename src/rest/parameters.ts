import type { DocumentQuery } from "./types.ts";

/** The parameters of a list, as all kinds of servers name them. `False` is understood by all releases, `false` is not. */
export function parametersOf(query: DocumentQuery): Record<string, string | number | undefined> {
	const { page, pageSize, order, id, name, condition } = query;
	const desc = order === undefined ? undefined : order.descending ? "True" : "False";
	return { page, page_size: pageSize, orderby: order?.by, desc, id, name, metadata_condition: condition };
}
