import { namedDocument, show } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import { ChangeGroups } from "./change-groups.ts";
import {
	type ChangeTally,
	type ShownChange,
	type ShownKey,
	shownKeys,
	type UndeclaredDocument,
} from "./change-tally.ts";
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
	#leftOut = 0;
	readonly #undeclared: string[] = [];
	#undeclaredLength = 0;

	/** @param limit characters at most, in UTF-16 code units, of which no service counts more */
	constructor(limit = DEFAULT_LIMIT_CHARACTERS) {
		this.#limit = limit;
	}

	add(change: ShownChange): void {
		this.#groups.add(change);
		const text = this.#leftOut > 0 ? "" : detailText(change);
		if (this.#leftOut > 0 || this.#length + text.length > this.#limit) {
			this.#leftOut += 1;
			return;
		}
		this.#details.push(text);
		this.#length += text.length;
	}

	addUndeclared({ datasetId, documentId, name }: UndeclaredDocument): void {
		// The sign keeps a name of backticks from ending the block.
		const text = `- ${namedDocument(name, documentId, LONGEST)} of dataset ${show(datasetId)}\n`;
		if (this.#undeclaredLength + text.length > this.#limit) return;
		this.#undeclared.push(text);
		this.#undeclaredLength += text.length;
	}

	/** @param isComplete false where the dry run was stopped before its last row */
	text(tally: ChangeTally, isComplete: boolean): string {
		let text = isComplete ? "" : "The command was stopped, so more may change than is shown here.\n\n";
		text += `${tally.text()}\n`;
		const removed = tally.removedText((key) => markdownCode(key, LONGEST_KEY));
		const isRoom = removed !== undefined && removed.length < (this.#limit - RESERVED - text.length) / 2;
		if (isRoom) text += `\n${removed}\n`;
		const room = this.#limit - text.length - 1;
		// A third for the documents that no row names.
		const undeclared = this.#undeclaredIn(tally, Math.floor(room / 3));
		const body = this.body(tally.documents, room - undeclared.length - 1);
		return [text, body, undeclared].filter((part) => part !== "").join("\n");
	}

	/** The documents that no row names: how many, and the first that fit in a fold. */
	#undeclaredIn(tally: ChangeTally, room: number): string {
		const counted = tally.undeclaredText();
		if (counted === undefined) return "";
		const { documents, text } = firstOf(this.#undeclared, room - RESERVED);
		const left = tally.undeclared - documents;
		const more = left === 0 ? "" : `and ${numberText(left)} more\n`;
		const fold = "<details>\n<summary>Documents in no row</summary>\n\n```text\n";
		return `${counted}\n\n${fold}${text}${more}${AFTER_DETAILS}`;
	}

	/**
	 * The list of equal changes, and each document in a fold.
	 *
	 * @param documents how many would change, and not only those that were added
	 * @param most characters at most
	 */
	body(documents: number, most = this.#limit): string {
		if (documents === 0) return "";
		const room = most - RESERVED;
		// Two thirds for the groups: most of what they don't name is among the details.
		const groups = this.#groups.list(Math.floor((room * 2) / 3));
		const details = firstOf(this.#details, room - groups.length - BEFORE_DETAILS.length - AFTER_DETAILS.length);
		const parts = [groups];
		if (details.documents > 0) parts.push(`${BEFORE_DETAILS}${details.text}${AFTER_DETAILS}`);
		const leftOut = documents - details.documents;
		if (leftOut > 0) {
			const verb = leftOut === 1 ? "is" : "are";
			const limit = numberText(this.#limit);
			parts.push(`${documentsText(leftOut)} ${verb} not shown one by one: the limit is ${limit} characters.\n`);
		}
		return parts.filter((part) => part !== "").join("\n");
	}
}

/** The first entries that fit. */
function firstOf(entries: readonly string[], room: number): { readonly text: string; readonly documents: number } {
	let length = 0;
	let documents = 0;
	for (const entry of entries) {
		if (length + entry.length > room) break;
		length += entry.length;
		documents += 1;
	}
	return { text: entries.slice(0, documents).join(""), documents };
}

/** A document and its keys, in the form of a diff. */
function detailText({ action, line, documentId, name, file, difference }: ShownChange): string {
	const subject = file === undefined ? namedDocument(name, documentId, LONGEST) : show(file, LONGEST);
	const what = action === "update" ? "" : `: ${action}`;
	const where = line === 0 ? "" : `, line ${line}`;
	return `@@ ${subject}${where}${what} @@\n${shownKeys(difference).map(keyText).join("")}`;
}

function keyText({ key, action, from, to }: ShownKey): string {
	const [before, after] = [from, to].map((value) => (value === undefined ? "" : show(JSON.stringify(value), LONGEST)));
	switch (action) {
		case "add":
			return `+ ${show(key, LONGEST)}: ${after}\n`;
		case "change":
			return `! ${show(key, LONGEST)}: ${before} → ${after}\n`;
		case "remove":
			return `- ${show(key, LONGEST)}: ${before}\n`;
	}
}
