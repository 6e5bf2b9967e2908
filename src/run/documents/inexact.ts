import { isNotJson } from "../../json/not-json.ts";
import { RestError } from "../../rest/errors.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { keysText } from "./keys-text.ts";
import type { ServiceVoice } from "./service-voice.ts";
import type { RemoteDocument } from "./stored-documents.ts";

/** What a request has no word for. */
const NO_WORD = "NaN or an infinity, which is no JSON and can't be sent back";
const ROUNDED = "a number that can't be kept exactly";

/**
 * What a document has is part of what is sent. A number of it that came rounded would be written back as another one, and
 * of `NaN` a request would make null.
 *
 * @param isKept whether what the document has under a key is sent again
 * @throws RestError of code `INEXACT_NUMBER` where such a number is, `NOT_JSON` where there is none of JSON's
 */
export function refuseRounded(
	service: ServiceVoice,
	documentId: string,
	{ inexact }: RemoteDocument,
	isKept: (key: string) => boolean,
): void {
	const kept = [...(inexact ?? [])].filter(([key]) => isKept(key));
	if (kept.length === 0) return;
	const isJson = kept.every(([, text]) => !isNotJson(text));
	const keys = kept.map(([key]) => key);
	const which = `${keys.length === 1 ? "key" : "keys"}: ${keysText(service, keys)}`;
	const what = isJson ? ROUNDED : NO_WORD;
	const others = isJson ? "" : ", and so can --mode replace without it";
	const text = `document ${service.show(documentId)} has ${what} (${which}); nothing was sent; a row that gives or deletes the key itself can be sent${others}`;
	throw new RestError(text, { kind: "rejected", code: isJson ? "INEXACT_NUMBER" : "NOT_JSON" });
}

/** What the document had, as it may be written back to undo the row; undefined, and said once, where it can't be. */
export function restorable<Metadata>(
	service: ServiceVoice,
	documentId: string,
	{ inexact }: RemoteDocument,
	metadata: Metadata,
): Metadata | undefined {
	if (inexact === undefined) return metadata;
	tellInexact(service, documentId, inexact);
	return undefined;
}

/** A document has what can't be sent back, and its row is sent all the same. Said once for each of the two causes. */
export function tellInexact(service: ServiceVoice, documentId: string, inexact: InexactValues): void {
	for (const [key, text] of inexact) {
		const isJson = !isNotJson(text);
		const [what, shown] = isJson ? [ROUNDED, "rounded"] : [NO_WORD, "as text"];
		const where = `document ${service.show(documentId)} has ${what} (key: ${service.show(key)})`;
		const then = `what such documents had is shown ${shown}, and their rows can't be undone`;
		service.noteOnce(isJson ? "INEXACT_NUMBER" : "NOT_JSON", `warning: ${where}: ${then}`);
	}
}
