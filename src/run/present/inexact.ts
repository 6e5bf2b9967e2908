import { RestError } from "../../rest/errors.ts";
import { keysText } from "../service/keys-text.ts";
import type { Service } from "../service/service.ts";
import type { Held } from "./stored-documents.ts";

/**
 * What a document has is part of what is sent. A number of it that came rounded would be written back as another one.
 *
 * @param isKept whether what the document has under a key is sent again
 * @throws RestError of code `INEXACT_NUMBER` where such a value is
 */
export function refuseRounded(
	service: Service,
	documentId: string,
	{ inexact }: Held,
	isKept: (key: string) => boolean,
): void {
	const keys = [...(inexact?.keys() ?? [])].filter(isKept);
	if (keys.length === 0) return;
	const which = `${keys.length === 1 ? "key" : "keys"}: ${keysText(service, keys)}`;
	const text = `document ${service.show(documentId)} has a number that can't be kept exactly (${which}); nothing was sent; a row that gives or deletes the key itself can be sent`;
	throw new RestError(text, { kind: "rejected", code: "INEXACT_NUMBER" });
}

/** What the document had, as it may be written back to undo the row; undefined, and said once, where it came rounded. */
export function restorable<Metadata>(
	service: Service,
	documentId: string,
	{ inexact }: Held,
	metadata: Metadata,
): Metadata | undefined {
	const [key] = inexact?.keys() ?? [];
	if (key === undefined) return metadata;
	service.rounded(documentId, key);
	return undefined;
}
