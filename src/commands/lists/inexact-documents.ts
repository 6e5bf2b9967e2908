import type { App } from "../../app.ts";
import { documentsText } from "../../report/summary.ts";
import type { Document } from "../../rest/types.ts";
import { show } from "../../text.ts";

/** What becomes of such numbers in a manifest. */
export const REFUSED_IN_MANIFESTS =
	"they are written as the service gives them, and docs tag refuses those cells, with line and column, until they are changed";

/**
 * Passes documents on, and warns behind the last of those that have numbers which can't be kept exactly.
 *
 * They are printed as the service gave them, and whatever reads them next may round them without a word.
 *
 * @param keys that are printed; undefined for all
 * @param then what becomes of them next, a clause
 */
export async function* warningOfInexact(
	documents: AsyncIterable<Document>,
	keys: readonly string[] | undefined,
	then: string,
	{ io }: App,
): AsyncGenerator<Document> {
	let count = 0;
	let first = "";
	for await (const document of documents) {
		const key = [...(document.inexact?.keys() ?? [])].find((each) => keys === undefined || keys.includes(each));
		if (key !== undefined) {
			count += 1;
			if (count === 1) first = `document ${show(document.id)}, key ${show(key)}`;
		}
		yield document;
	}
	if (count === 0) return;
	const have = `${documentsText(count)} ${count === 1 ? "has" : "have"}`;
	io.note(`warning: ${have} numbers that most programs can't keep exactly (first: ${first}): ${then}`);
}
