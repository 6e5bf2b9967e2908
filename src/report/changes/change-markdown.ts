import type { JsonValue } from "../../json/values.ts";
import { show } from "../../text/show.ts";
import { type ShownChange, shownKeys } from "./shown-change.ts";

/** Characters of a value that a cell shows: a table is for reading, and a line of it has no end of its own. */
const LONGEST = 500;

export const changeMarkdownHead =
	"| line | document_id | key | action | from | to |\n| ---: | --- | --- | --- | --- | --- |\n";

/** A document that would change, a line of a Markdown table for each key, and one for an upload or a removal itself. */
export function changeMarkdown({ action: what, line, documentId, file, difference }: ShownChange): string {
	const id = documentId === "" ? "" : code(documentId);
	const to = file === undefined ? "" : code(file);
	const whole = what === "update" ? "" : `| ${line} | ${id} |  | ${what} document |  | ${to} |\n`;
	const rows = shownKeys(difference).map(({ key, action, from, to }) => {
		const cells = [String(line), id, code(key), action, valueCell(from), valueCell(to)];
		return `| ${cells.join(" | ")} |\n`;
	});
	return whole + rows.join("");
}

/** As JSON, so that the text "5" and the number 5 are told apart. */
function valueCell(value: JsonValue | undefined): string {
	return value === undefined ? "" : code(JSON.stringify(value));
}

/**
 * Foreign text as code: nothing in it is a link, a picture or a mention of somebody there. A bar would end the cell even
 * in code, and code ends at as many backticks as it began with.
 */
function code(text: string): string {
	const shown = show(text, LONGEST).replaceAll("|", "\\|");
	const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
	const fence = "`".repeat(longestRun + 1);
	const space = longestRun > 0 || shown.trim() === "" ? " " : "";
	return `${fence}${space}${shown}${space}${fence}`;
}
