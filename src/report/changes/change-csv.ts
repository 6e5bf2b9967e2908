import type { JsonValue } from "../../json/values.ts";
import { reportCsvLine } from "../delimited.ts";
import { type ShownChange, shownKeys } from "./shown-change.ts";

export const changeCsvHead = reportCsvLine(["line", "document_id", "key", "action", "from", "to"]);

/**
 * A document that would change, a line a key, for a spreadsheet. A document that would be uploaded or removed has a line of
 * its own before them: it may have no key at all.
 */
export function changeCsv({ action: what, line, documentId, file = "", difference }: ShownChange): string {
	const whole = what === "update" ? "" : reportCsvLine([String(line), documentId, "", `${what} document`, "", file]);
	const rows = shownKeys(difference).map(({ key, action, from, to }) => {
		// Text as it is, which a sheet is easiest to read by; as JSON where two values would look alike.
		const areAlike = from !== undefined && to !== undefined && plain(from) === plain(to);
		const cell = areAlike ? (value: JsonValue) => JSON.stringify(value) : plain;
		const cells = [from, to].map((value) => (value === undefined ? "" : cell(value)));
		return reportCsvLine([String(line), documentId, key, action, ...cells]);
	});
	return whole + rows.join("");
}

function plain(value: JsonValue): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}
