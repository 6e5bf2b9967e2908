import { RestError } from "../../rest/errors.ts";
import { differsByCase } from "../../text/names.ts";

/**
 * The code of a row whose id differs from its document's by letter case alone. RAGFlow's database compares ids without
 * case (MySQL, `utf8mb4_general_ci`; v0.15 to v0.27), so such an id addresses the document, and the run would then not
 * know it again: neither in the answer, nor in a list, nor when the run is undone.
 */
export const OTHER_CASE = "OTHER_CASE";

/** The spellings under which the same document may be listed. */
export function otherSpellings(id: string): readonly string[] {
	return [id.toLowerCase(), id.toUpperCase()].filter((spelling) => spelling !== id);
}

/** @throws RestError of code `OTHER_CASE` where the entries have that id in another case, and none has the id itself */
export function refuseOtherCase(datasetId: string, asked: string, entries: readonly { readonly id: string }[]): void {
	const found = entries.find(({ id }) => differsByCase(id, asked));
	if (found === undefined || entries.some(({ id }) => id === asked)) return;
	const text = `document ${asked} is not in dataset ${datasetId} in this letter case; did you mean ${found.id}? Nothing was sent`;
	throw new RestError(text, { kind: "rejected", code: OTHER_CASE });
}

/**
 * What the answer to an update means that names the document in another letter case. Of a document that was seen under the
 * id that was asked for, it is the answer to another request. Else it says that this document was written, and what was
 * asked for is its id in the wrong case: sending it again would only write it again.
 */
export function answeredInOtherCase({ message, cause }: RestError, wasSeen: boolean): RestError {
	if (wasSeen) return new RestError(message, { kind: "ambiguous", code: "ECHO_MISMATCH", cause });
	const text = `${message}: it was written; write the id as the service does`;
	return new RestError(text, { kind: "rejected", code: OTHER_CASE, cause });
}
