import { Exit } from "../../errors.ts";
import { markdownCell, markdownCode } from "../../report/markdown.ts";
import type { RunEnd } from "../../run-end.ts";
import { numberText } from "../../text/words.ts";
import { findingsOf, unlistedOf } from "./findings.ts";

/** Findings in the table; a page with more is no summary. */
const LISTED = 100;

/** The run as Markdown, for the summary of a step: what happened, the counts, and the first findings. */
export function stepSummaryText(end: RunEnd): string {
	const { command, args, exit, text, summary } = end;
	const mark = exit === Exit.ok ? "✅" : "❌";
	const parts = [`### ${mark} ragtag ${command} ${args.map((arg) => markdownCode(arg)).join(" ")}\n`];
	if (text !== "") parts.push(...text.split("\n").map((line) => `${markdownCode(line)}\n`));
	if (summary !== undefined) {
		const { rows, updated, unchanged, uploaded, removed, failed, invalid, pending, changes } = summary;
		const counts = Object.entries({ rows, updated, unchanged, uploaded, removed, failed, invalid, pending, changes });
		const shown = counts.filter(([name, count]) => name === "rows" || count > 0);
		const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
		const head = line(shown.map(([name]) => name)) + line(shown.map(() => "---:"));
		parts.push(head + line(shown.map(([, count]) => numberText(count))));
	}
	const findings = findingsOf(end).filter(({ file }) => file !== undefined);
	if (findings.length > 0) {
		const rows = findings.slice(0, LISTED).map(({ file, line, code, text: what }) => {
			return `| ${markdownCell(`${file ?? ""}:${line ?? ""}`)} | ${markdownCell(code)} | ${markdownCell(what)} |\n`;
		});
		parts.push(`| line | code | what |\n|---|---|---|\n${rows.join("")}`);
		const more = findings.length - rows.length + unlistedOf(end);
		if (more > 0) parts.push(`${numberText(more)} more.\n`);
	}
	return `${parts.join("\n")}\n`;
}
