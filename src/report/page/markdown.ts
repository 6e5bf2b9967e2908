import { numberText, rowsText } from "../../text/words.ts";
import { ChangesMarkdown } from "../changes.ts";
import { markdownCell, markdownCode } from "../escape.ts";
import { countsOf } from "../summary.ts";
import { factsOf, NUMERIC, type PageTable, type RunPage, tablesOf, titleOf } from "./model.ts";

/** Rows of a table: a comment on a page has room for few. */
const MOST_ROWS = 100;

/** Characters of the changes: the whole page is to fit into a comment of 65,536. */
const CHANGE_CHARACTERS = 20_000;

/** The report as Markdown, for a comment or the summary of a step: without charts, and with the first rows of each table. */
export function pageMarkdown(page: RunPage): string {
	const { outcome, totals, reasons, next, changes } = page;
	const counts = totals === undefined ? [] : [["rows", totals.rows] as const, ...countsOf(totals)];
	const facts = [
		...counts.map(([name, count]) => `| ${name} | ${numberText(count)} |`),
		...factsOf(page).map(([name, text]) => `| ${name.toLowerCase()} | ${markdownCell(text)} |`),
	];
	const parts = [
		`## ${outcome.word}: ${markdownCode(titleOf(page))}`,
		outcome.sentence,
		...reasons.map((text) => markdownCode(text, LONGEST_REASON)),
		["|  |  |", "| --- | ---: |", ...facts].join("\n"),
		...(next.length === 0 ? [] : [next.map((each) => `- ${each.what}: ${markdownCode(each.command)}`).join("\n")]),
		...tablesOf(page).flatMap(tableParts),
		...changeParts(changes),
	];
	return `${parts.join("\n\n")}\n`;
}

/** Characters of a sentence about the end. */
const LONGEST_REASON = 2000;

function tableParts({ title, columns, rows, total }: PageTable): string[] {
	const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
	const cell = (text: string, at: number): string =>
		text === "" || NUMERIC.includes(columns[at] ?? "") ? text : markdownCell(text);
	const lines = rows.slice(0, MOST_ROWS).map((row) => line(row.map(cell)));
	const head = [line(columns), line(columns.map((name) => (NUMERIC.includes(name) ? "---:" : "---")))];
	const more = total > lines.length ? [`… and ${rowsText(total - lines.length)} more.`] : [];
	return [`### ${title}`, [...head, ...lines].join("\n"), ...more];
}

/** Equal changes in one line, and each document in a fold. */
function changeParts({ rows, total }: RunPage["changes"]): string[] {
	if (total === 0) return [];
	const list = new ChangesMarkdown(CHANGE_CHARACTERS);
	for (const change of rows) list.add(change);
	const first = total > rows.length ? [`The first ${numberText(rows.length)}:`] : [];
	return ["### Changes", ...first, list.body(total).trimEnd()];
}
