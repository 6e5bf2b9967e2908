import { namedDocument, show } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import { ChangeGroups } from "./change-groups.ts";
import { type ChangeTally, keyText, type ShownChange, shownKeys, type UndeclaredDocument } from "./change-tally.ts";
import { markdownCode } from "./escape.ts";

/** GitHub takes 65,536 characters in a comment; the rest is for the words around. */
export const DEFAULT_LIMIT_CHARACTERS = 60_000;

/** Characters of a key, a value or a name among the details. */
const LONGEST = 500;

/** Characters of a key in the sentence that names the removed ones. */
const LONGEST_KEY = 100;

const BEFORE_DETAILS = "<details>\n<summary>Document by document</summary>\n\n```diff\n";
const AFTER_DETAILS = "```\n\n</details>\n";

/** Characters for the sentence that says what was left out, and for that of an early end. */
const RESERVED = 250;

/**
 * The changes of a dry run as Markdown for a comment: the counts, a list of equal changes, and each document in a fold.
 *
 * The fold is a block of code in the form of a diff. Each of its lines begins with a sign of ours and no foreign text has a line
 * end, so nothing in it ends the block, mentions a user or becomes a link. Memory holds no more than the characters that are
 * printed.
 */
export class ChangesMarkdown {
	readonly #limit: number;
	readonly #groups = new ChangeGroups();
	readonly #details: string[] = [];
	#length = 0;

	/** @param limit characters at most, in UTF-16 code units, of which no service counts more */
	constructor(limit = DEFAULT_LIMIT_CHARACTERS) {
		this.#limit = limit;
	}

	add(change: ShownChange): undefined {
		this.#groups.add(change);
		const { action, line, documentId, name, file, difference } = change;
		const subject = file === undefined ? namedDocument(name, documentId, LONGEST) : show(file, LONGEST);
		const what = action === "update" ? "" : `: ${action}`;
		const where = line === 0 ? "" : `, line ${line}`;
		const keys = shownKeys(difference).map((key) => `${keyText(key, LONGEST, "!")}\n`);
		this.#detail(`@@ ${subject}${where}${what} @@\n${keys.join("")}`);
	}

	addUndeclared({ datasetId, documentId, name }: UndeclaredDocument): undefined {
		this.#detail(`# ${namedDocument(name, documentId, LONGEST)} of dataset ${show(datasetId)} is in no row\n`);
	}

	/** Once a text has no room, no later one is held. */
	#detail(text: string): void {
		this.#length += text.length;
		if (this.#length <= this.#limit) this.#details.push(text);
	}

	/** @param isComplete false where the dry run was stopped before its last row */
	text(tally: ChangeTally, isComplete: boolean): string {
		let text = isComplete ? "" : "The command was stopped, so more may change than is shown here.\n\n";
		text += `${tally.text()}\n`;
		const removed = tally.removedText((key) => markdownCode(key, LONGEST_KEY));
		const isRoom = removed !== undefined && removed.length < (this.#limit - RESERVED - text.length) / 2;
		if (isRoom) text += `\n${removed}\n`;
		const undeclared = tally.undeclaredText();
		if (undeclared !== undefined) text += `\n${undeclared}\n`;
		const body = this.body(tally.documents + tally.undeclared, this.#limit - text.length - 1);
		return body === "" ? text : `${text}\n${body}`;
	}

	/**
	 * The list of equal changes, and each document in a fold.
	 *
	 * @param documents how many there are, and not only those that were added
	 * @param most characters at most
	 */
	body(documents: number, most = this.#limit): string {
		if (documents === 0) return "";
		const room = most - RESERVED;
		// Two thirds for the groups: most of what they don't name is among the details.
		const groups = this.#groups.list(Math.floor((room * 2) / 3));
		let left = room - groups.length - BEFORE_DETAILS.length - AFTER_DETAILS.length;
		const end = this.#details.findIndex((text) => (left -= text.length) < 0);
		const shown = end === -1 ? this.#details : this.#details.slice(0, end);
		const parts = [groups];
		if (shown.length > 0) parts.push(`${BEFORE_DETAILS}${shown.join("")}${AFTER_DETAILS}`);
		const leftOut = documents - shown.length;
		if (leftOut > 0) {
			const verb = leftOut === 1 ? "is" : "are";
			const limit = numberText(this.#limit);
			parts.push(`${documentsText(leftOut)} ${verb} not shown one by one: the limit is ${limit} characters.\n`);
		}
		return parts.filter((part) => part !== "").join("\n");
	}
}
