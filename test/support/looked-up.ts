import type { IncomingMessage } from "node:http";

/** The id of the dataset of `lookUpText`. */
export const DATASET = "d".repeat(32);

/**
 * The answer to a GET of a service that has whatever document it is asked for by its id.
 *
 * @param metadataOf the present metadata of a document
 */
export function lookUpText(
	{ url: path = "" }: Pick<IncomingMessage, "url">,
	metadataOf: (id: string) => object,
): string {
	const asked = new URLSearchParams(path.slice(path.indexOf("?"))).get("id");
	const docs =
		asked === null ? [] : [{ id: asked, name: "a.txt", meta_fields: metadataOf(asked), dataset_id: DATASET }];
	return JSON.stringify({ code: 0, data: path.includes("/documents") ? { docs, total: docs.length } : [] });
}
