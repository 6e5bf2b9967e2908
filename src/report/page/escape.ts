import { show } from "../../text/show.ts";

/** Characters of one value that a page shows: a cell is not the place to read a document. */
const LONGEST = 2000;

const ENTITIES: ReadonlyMap<string, string> = new Map([
	["&", "&amp;"],
	["<", "&lt;"],
	[">", "&gt;"],
	['"', "&quot;"],
	["'", "&#39;"],
]);

/**
 * Foreign text as HTML, for an element or an attribute in quotes. Characters that hide or reverse text are shown as escapes,
 * as on a terminal.
 */
export function html(text: string, longest = LONGEST): string {
	return show(text, longest).replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}
