import { type JsonValue, metadataText } from "../json/values.ts";
import type { Difference } from "../plan/change.ts";
import { namedDocument, show } from "../text/show.ts";
import { reportCsvLine } from "./list-lines.ts";

/** The effect of a row: it changes a document's metadata, creates a document from a file, or removes one. */
export type ChangeAction = "update" | "upload" | "remove";

/** One document that would change, as a dry run shows it. */
export type ShownChange = {
	readonly action: ChangeAction;
	/** line of its row in the manifest */
	readonly line: number;
	readonly datasetId: string;
	/** empty for an upload, whose document does not exist yet */
	readonly documentId: string;
	/** undefined where it is not known */
	readonly name?: string | undefined;
	/** `upload`: path of the file */
	readonly file?: string | undefined;
	/** for a removal, all keys of the document are removed */
	readonly difference: Difference;
};

/** Styles for a terminal; each may return its text unchanged. */
export type Marks = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

/** How changes are written in one format. */
type Formatting = {
	/** its purpose, in the words of the help of `--format` */
	readonly use: string;
	/** the lines before the first change */
	readonly head?: string;
	/** @param longest characters of a value on a terminal */
	readonly change: (change: ShownChange, marks: Marks, longest: number) => string;
	/** the totals after the last change; absent in data, whose head is also written where there is no change */
	readonly totals?: (lines: readonly string[]) => string;
};

const CSV_HEAD = reportCsvLine(["line", "document_id", "key", "action", "from", "to", "name"]);
const MARKDOWN_HEAD = "| line | document_id | key | action | from | to |\n| ---: | --- | --- | --- | --- | --- |\n";

/** Every format in which a dry run shows changes, by its name in `--format`. */
export const CHANGE_FORMATS = {
	text: { use: "for people", change: changeText, totals: (lines) => `${lines.join("\n")}\n` },
	csv: { use: "for a spreadsheet", head: CSV_HEAD, change: changeCsv },
	md: {
		use: "a Markdown table",
		head: MARKDOWN_HEAD,
		change: changeMarkdown,
		totals: (lines) => `${lines.join("\n\n")}\n`,
	},
} as const satisfies Readonly<Record<string, Formatting>>;

export type ChangeFormat = keyof typeof CHANGE_FORMATS;

export function formatting(format: ChangeFormat): Formatting {
	return CHANGE_FORMATS[format];
}

/** The `--json` line of a document that would change. Text, so that keys keep their order and `__proto__` is one of them. */
export function changeLine({ action, line, datasetId, documentId, name, file, difference }: ShownChange): string {
	const { add, change, remove } = difference;
	const head = JSON.stringify({
		type: "change",
		action,
		line,
		dataset_id: datasetId,
		document_id: documentId,
		...(name === undefined ? {} : { name }),
		...(file === undefined ? {} : { file }),
	});
	const changed = metadataText(change);
	return `${head.slice(0, -1)},"add":${metadataText(add)},"change":${changed},"remove":${metadataText(remove)}}\n`;
}

/** A document that would change, for people: a line for the document, and one for each of its keys. */
export function changeText(shown: ShownChange, marks: Marks, longest: number): string {
	const { action, line, documentId, name, file, difference } = shown;
	const keys = shownKeys(difference).map((key) => keyText(key, marks, longest));
	const subject = marks.bold(file === undefined ? namedDocument(name, documentId, longest) : show(file, longest));
	return `${subject} ${marks.dim(`line ${line}`)}${actionText(action, marks)}\n${keys.join("")}`;
}

/** Nothing for an update: its keys show it. */
function actionText(action: ChangeAction, marks: Marks): string {
	switch (action) {
		case "update":
			return "";
		case "upload":
			return `  ${marks.green("would be uploaded")}`;
		case "remove":
			return `  ${marks.red("would be removed")}`;
	}
}

function keyText({ key, action, from, to }: ShownKey, marks: Marks, longest: number): string {
	const name = show(key, longest);
	const [before, after] = [valueText(from, longest), valueText(to, longest)];
	// The sign repeats the meaning of the colour: logs have no colour, and some users can't see it.
	switch (action) {
		case "add":
			return `${marks.green(`  + ${name}: ${after}`)}\n`;
		case "change":
			return `${marks.yellow(`  ~ ${name}: `)}${before} ${marks.yellow("→")} ${after}\n`;
		case "remove":
			return `${marks.red(`  - ${name}: ${before}`)}\n`;
	}
}

/** As JSON, so that the text "5" and the number 5 differ. */
function valueText(value: JsonValue | undefined, longest: number): string {
	return value === undefined ? "" : show(JSON.stringify(value), longest);
}

/**
 * A document that would change, one line for each key, for a spreadsheet. An upload or a removal has a line of its own before
 * them, because it may have no key.
 */
export function changeCsv({ action: what, line, documentId, name = "", file = "", difference }: ShownChange): string {
	const whole =
		what === "update" ? "" : reportCsvLine([String(line), documentId, "", `${what} document`, "", file, name]);
	const rows = shownKeys(difference).map(({ key, action, from, to }) => {
		// Text is easiest to read as it is; two values that would look alike are shown as JSON.
		const areAlike = from !== undefined && to !== undefined && plain(from) === plain(to);
		const cell = areAlike ? (value: JsonValue) => JSON.stringify(value) : plain;
		const cells = [from, to].map((value) => (value === undefined ? "" : cell(value)));
		return reportCsvLine([String(line), documentId, key, action, ...cells, name]);
	});
	return whole + rows.join("");
}

function plain(value: JsonValue): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** Most characters of a value in a cell: a line of a Markdown table can't be wrapped. */
const LONGEST = 500;

/** A document that would change: a table line for each key, and one for the upload or the removal itself. */
export function changeMarkdown({ action: what, line, documentId, file, difference }: ShownChange): string {
	const id = documentId === "" ? "" : markdownCode(documentId);
	const to = file === undefined ? "" : markdownCode(file);
	const whole = what === "update" ? "" : `| ${line} | ${id} |  | ${what} document |  | ${to} |\n`;
	const rows = shownKeys(difference).map(({ key, action, from, to }) => {
		const cells = [String(line), id, markdownCode(key), action, valueCell(from), valueCell(to)];
		return `| ${cells.join(" | ")} |\n`;
	});
	return whole + rows.join("");
}

function valueCell(value: JsonValue | undefined): string {
	return value === undefined ? "" : markdownCode(JSON.stringify(value));
}

/**
 * Foreign text as code, so that nothing in it becomes a link, a picture or a mention. A bar would end the cell even in code,
 * and code ends at as many backticks as it began with.
 */
export function markdownCode(text: string): string {
	const shown = show(text, LONGEST).replaceAll("|", "\\|");
	const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
	const fence = "`".repeat(longestRun + 1);
	const space = longestRun > 0 || shown.trim() === "" ? " " : "";
	return `${fence}${space}${shown}${space}${fence}`;
}

/** One key that would change; `from` is undefined where it is added, `to` where it is removed. */
type ShownKey = {
	readonly key: string;
	readonly action: "add" | "change" | "remove";
	readonly from: JsonValue | undefined;
	readonly to: JsonValue | undefined;
};

/** The keys of a change: those that are added, then those that change, then those that are removed. */
export function shownKeys({ add, change, remove }: Difference): ShownKey[] {
	const added = Array.from(add, ([key, to]): ShownKey => ({ key, action: "add", from: undefined, to }));
	const changed = Array.from(change, ([key, { from, to }]): ShownKey => ({ key, action: "change", from, to }));
	const removed = Array.from(remove, ([key, from]): ShownKey => ({ key, action: "remove", from, to: undefined }));
	return [...added, ...changed, ...removed];
}
