import type { Fault } from "../fault.ts";
import { MAX_ID } from "../limits.ts";
import { excerpt } from "../../text/show.ts";

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Surrogate}/u;

/**
 * The same text for ids of one document. RAGFlow's ids are 32 hexadecimal digits, and its database compares them without
 * letter case; other ids are taken as they are.
 */
export function idKey(id: string): string {
	return /^[0-9a-f]{32}$/i.test(id) ? id.toLowerCase() : id;
}

/** What makes a text unfit to be an id, which becomes a segment of an address; undefined when nothing does. */
export function idFault(field: string, id: string): Fault | undefined {
	const text = idText(id);
	return text === undefined ? undefined : { field, code: "BAD_ID", text };
}

function idText(id: string): string | undefined {
	if (id === "") return "is empty";
	// Nearly every id is one of these: no further look is needed.
	if (/^[\w-]{1,256}$/.test(id)) return undefined;
	if (id.trim() === "") return "is nothing but white space";
	if (id.trim() !== id) return `"${excerpt(id)}" begins or ends with white space`;
	if (id === "." || id === "..") return `"${id}" names a folder, not an id`;
	if (CONTROL.test(id)) return `"${excerpt(id)}" holds a control character`;
	if (SURROGATE.test(id)) return `"${excerpt(id)}" holds half a surrogate pair`;
	if (id.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
	return undefined;
}
