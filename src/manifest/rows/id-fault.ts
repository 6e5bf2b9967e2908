import { MAX_ID } from "../limits.ts";
import type { Fault } from "../fault.ts";
import { isRoundedNumber } from "../mistaken.ts";
import { excerpt } from "../../text/show.ts";

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Surrogate}/u;

/** The fault of a text that can't be an id, which becomes a segment of an address. Undefined if there is none. */
export function idFault(field: string, id: string): Fault | undefined {
	const text = idText(id);
	return text === undefined ? undefined : { field, code: "BAD_ID", text };
}

function idText(id: string): string | undefined {
	if (id === "") return "is empty";
	// Nearly every id is one of these, and needs no further check.
	if (/^[\w-]{1,256}$/.test(id)) return undefined;
	if (id.trim() === "") return "is nothing but white space";
	if (id.trim() !== id) return `"${excerpt(id)}" begins or ends with white space`;
	if (id === "." || id === "..") return `"${id}" names a folder, not an id`;
	if (isRoundedNumber(id)) {
		return `"${excerpt(id)}" is an id that a spreadsheet has rounded: import the column as text, or save it as text`;
	}
	if (CONTROL.test(id)) return `"${excerpt(id)}" holds a control character`;
	if (SURROGATE.test(id)) return `"${excerpt(id)}" holds half a surrogate pair`;
	if (id.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
	return undefined;
}
