import { type JsonValue, membersText } from "../json/values.ts";
import { namedDocument, show } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import { ChangeGroups } from "./change-groups.ts";
import {
	EFFECTS,
	type ChangeTally,
	keyText,
	type ShownChange,
	shownKeys,
	type UndeclaredDocument,
} from "./change-tally.ts";
import { markdownCode, reportCsvLine } from "./escape.ts";

/** Styles for a terminal; each may return its text unchanged. */
type Marks = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

/** Prints changes in one format. */
type ChangeWriter = {
	/** the text of a change, to be printed at once; undefined in a format that is printed at the end */
	change(change: ShownChange): string | undefined;
	/** the text of a document that no row names, after the last change; undefined in a format that is printed at the end */
	undeclared(document: UndeclaredDocument): string | undefined;
	/** the text after the last change */
	end(tally: ChangeTally): string;
	/** the text where the dry run is stopped before its last row; absent in a format that has nothing more to print */
	cut?(tally: ChangeTally): string;
};

type ChangeStyle = {
	readonly marks: Marks;
	/** characters of a value on a terminal */
	readonly longest: number;
	/** characters of the whole text at most, in a format that has such a limit */
	readonly limit?: number | undefined;
};

/** Every format in which a dry run shows changes, by its name in `--format`, with its purpose in the words of the help. */
export const CHANGE_FORMATS = {
	text: { use: "for people", writer: textWriter },
	csv: { use: "for a spreadsheet", writer: csvWriter },
	md: { use: "as Markdown for a comment, equal changes grouped", writer: markdownWriter },
} as const;

export type ChangeFormat = keyof typeof CHANGE_FORMATS;

/** @param format `json` prints lines, without totals: the summary has them */
export function changeWriter(format: ChangeFormat | "json", style: ChangeStyle): ChangeWriter {
	if (format !== "json") return CHANGE_FORMATS[format].writer(style);
	return { change: changeLine, undeclared: undeclaredLine, end: () => "" };
}

function textWriter({ marks, longest }: ChangeStyle): ChangeWriter {
	return {
		change: (change) => changeText(change, marks, longest),
		undeclared: ({ datasetId, documentId, name }) => {
			const dataset = marks.dim(`of dataset ${show(datasetId)}`);
			return `${marks.bold(namedDocument(name, documentId, longest))} ${dataset}  ${marks.yellow("is in no row")}\n`;
		},
		end: (tally) => `${tally.documents + tally.undeclared === 0 ? "" : "\n"}${tally.texts().join("\n")}\n`,
	};
}

/** Its head is written also where there is no change. */
function csvWriter(): ChangeWriter {
	let head = reportCsvLine(["line", "document_id", "key", "action", "from", "to", "name"]);
	const withHead = (text: string): string => {
		const whole = head + text;
		head = "";
		return whole;
	};
	const undeclared = ({ documentId, name = "" }: UndeclaredDocument): string =>
		withHead(reportCsvLine(["", documentId, "", "undeclared document", "", "", name]));
	return { change: (change) => withHead(changeCsv(change)), undeclared, end: () => withHead("") };
}

function markdownWriter({ limit }: ChangeStyle): ChangeWriter {
	const page = new ChangesMarkdown(limit);
	return {
		change: (change) => page.add(change),
		undeclared: (document) => page.addUndeclared(document),
		end: (tally) => page.text(tally, true),
		cut: (tally) => page.text(tally, false),
	};
}

/** The `--json` line of a document that would change. */
function changeLine({ action, line, datasetId, documentId, name, from, file, difference }: ShownChange): string {
	const members = { line, dataset_id: datasetId, document_id: documentId, name, from, file, ...difference };
	return `${membersText({ type: "change", action, ...members })}\n`;
}

/** The `--json` line of a document that no row names. */
function undeclaredLine({ datasetId, documentId, name }: UndeclaredDocument): string {
	const line = { type: "undeclared", dataset_id: datasetId, document_id: documentId, name: name ?? null };
	return `${JSON.stringify(line)}\n`;
}

/** A document that would change, for people: a line for the document, and one for each of its keys. */
function changeText(shown: ShownChange, marks: Marks, longest: number): string {
	const { line, documentId, name, file, difference } = shown;
	const keys = shownKeys(difference).map((key) => `${marks[COLOURS[key.action]](`  ${keyText(key, longest)}`)}\n`);
	const subject = marks.bold(file === undefined ? namedDocument(name, documentId, longest) : show(file, longest));
	return `${subject} ${marks.dim(`line ${line}`)}${actionText(shown, marks)}\n${keys.join("")}`;
}

const COLOURS = { add: "green", change: "yellow", remove: "red" } as const;

/** Nothing for an update: its keys show it. */
function actionText({ action, from = "" }: ShownChange, marks: Marks): string {
	if (action === "update") return "";
	const [word, mark] = EFFECTS[action];
	return `  ${marks[mark](`would be ${word}${action === "rename" ? ` from ${show(from)}` : ""}`)}`;
}

/**
 * A document that would change, one line for each key, for a spreadsheet. An upload or a removal has a line of its own before
 * them, because it may have no key.
 */
function changeCsv({ action: what, line, documentId, name = "", from, file = "", difference }: ShownChange): string {
	const whole =
		what === "update" ? "" : reportCsvLine([String(line), documentId, "", `${what} document`, from ?? "", file, name]);
	const rows = shownKeys(difference).map(({ key, action, from, to }) => {
		// Text is easiest to read as it is; two values that would look alike are shown as JSON.
		const areAlike = from !== undefined && to !== undefined && cellText(from) === cellText(to);
		const cell = areAlike ? (value: JsonValue) => JSON.stringify(value) : cellText;
		const cells = [from, to].map((value) => (value === undefined ? "" : cell(value)));
		return reportCsvLine([String(line), documentId, key, action, ...cells, name]);
	});
	return whole + rows.join("");
}

function cellText(value: JsonValue): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}

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
