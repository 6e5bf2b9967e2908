import { OUTCOMES } from "../../outcomes.ts";
import { durationText, numberText, rowsText } from "../../text/words.ts";
import { ChangesMarkdown } from "../changes-markdown.ts";
import { markdownCell, markdownCode } from "../escape.ts";
import { verifyText } from "../verify.ts";
import { show } from "../../text/show.ts";
import type { PageFailure, RunPage } from "./model.ts";

/** Rows of a table: a comment on a page has room for few. */
const MOST_ROWS = 100;

/** Characters of the changes: the whole page is to fit into a comment of 65,536. */
const CHANGE_CHARACTERS = 20_000;

/** The report as Markdown, for a comment or a step summary: without charts, and with the first rows of each table. */
export function pageMarkdown(page: RunPage): string {
	const { outcome, command, manifest, totals, reasons, next, verify, failures, problems, changes, codes } = page;
	const title = manifest === undefined ? `ragtag ${command}` : `ragtag ${command} ${markdownCode(manifest)}`;
	const parts = [
		`## ${outcome.word}: ${title}`,
		outcome.sentence,
		...reasons.map((text) => plain(text)),
		...(totals === undefined ? [] : [countTable(page)]),
		...(next.length === 0 ? [] : [next.map((each) => `- ${each.what}: ${markdownCode(each.command)}`).join("\n")]),
		...(verify === undefined ? [] : [`${verifyText(verify)}.`]),
		...(codes.length === 0 ? [] : [`### Failures by code\n\n${codeTable(page)}`]),
		...failureTable("Failed rows", failures.rows, failures.total),
		...failureTable("Invalid rows", problems.rows, problems.total),
		...changeList(changes),
	];
	return `${parts.join("\n\n")}\n`;
}

function countTable({ totals, seconds, service, settings, run }: RunPage): string {
	if (totals === undefined) return "";
	const { rows, invalid, duplicateSkipped, pending } = totals;
	const counts: readonly (readonly [string, number])[] = [
		...OUTCOMES.map((outcome) => [outcome, totals[outcome]] as const),
		["invalid", invalid],
		["duplicates skipped", duplicateSkipped],
		["pending", pending],
	];
	const all: readonly (readonly [string, string | undefined])[] = [
		["rows", numberText(rows)],
		...counts.map(([name, count]) => [name, count === 0 ? undefined : numberText(count)] as const),
		["duration", seconds === undefined ? undefined : durationText(seconds)],
		["service", service === undefined ? undefined : markdownCell(service)],
		...settings.map(([name, text]) => [name.toLowerCase(), markdownCell(text)] as const),
		["run", run],
	];
	const lines = all.flatMap(([name, text]) => (text === undefined ? [] : [`| ${name} | ${text} |`]));
	return ["|  |  |", "| --- | ---: |", ...lines].join("\n");
}

function codeTable({ codes }: RunPage): string {
	const lines = codes.map(
		(each) => `| ${numberText(each.count)} | ${markdownCell(each.code)} | ${markdownCell(each.example)} |`,
	);
	return ["| rows | code | for example |", "| ---: | --- | --- |", ...lines].join("\n");
}

function failureTable(title: string, rows: readonly PageFailure[], total: number): string[] {
	if (total === 0) return [];
	const lines = rows.slice(0, MOST_ROWS).map(({ line, documentId, code: name, text }) => {
		return `| ${line} | ${documentId === "" ? "" : markdownCell(documentId)} | ${markdownCell(name)} | ${markdownCell(text)} |`;
	});
	const table = ["| line | document_id | code | error |", "| ---: | --- | --- | --- |", ...lines].join("\n");
	return [`### ${title}`, table, ...more(total - lines.length)];
}

/** Equal changes in one line, and each document in a fold. */
function changeList({ rows, total }: RunPage["changes"]): string[] {
	if (total === 0) return [];
	const list = new ChangesMarkdown(CHANGE_CHARACTERS);
	for (const { line = 0, datasetId, documentId, action, name, difference } of rows) {
		const file = action === "upload" ? name : undefined;
		list.add({ line, datasetId, documentId, action, name, file, difference });
	}
	const first = total > rows.length ? [`The first ${numberText(rows.length)}:`] : [];
	return ["### Changes", ...first, list.body(total).trimEnd()];
}

function more(count: number): string[] {
	return count > 0 ? [`… and ${rowsText(count)} more.`] : [];
}

/** A sentence that may hold foreign text: nothing in it becomes a link, a picture, HTML or a mention. */
function plain(text: string): string {
	return show(text, 2000).replaceAll(/[\\`*_{}[\]<>()#+!|~@&-]/g, (character) => `\\${character}`);
}
