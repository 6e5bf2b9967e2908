import { type JsonValue, membersText } from "../json/values.ts";
import { namedDocument, show } from "../text/show.ts";
import {
	EFFECTS,
	type ChangeTally,
	keyText,
	type ShownChange,
	shownKeys,
	type UndeclaredDocument,
} from "./change-tally.ts";
import { ChangesMarkdown } from "./changes-markdown.ts";
import { reportCsvLine } from "./escape.ts";

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
