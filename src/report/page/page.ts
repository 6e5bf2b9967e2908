import { createHash } from "node:crypto";
import style from "asset:./page.css";
import { numberText } from "../../text/words.ts";
import { chartFigure } from "./chart.ts";
import { html } from "../escape.ts";
import { factsOf, NUMERIC, type PageChange, type PageTable, type RunPage, tablesOf, titleOf } from "./model.ts";
import type { JsonValue } from "../../json/values.ts";
import { ChangeGroups } from "../change-groups.ts";
import { shownKeys } from "../change-tally.ts";
import { countsOf } from "../summary.ts";

/**
 * The report as one HTML file. Its policy allows nothing but its own style, so the page can't ask any server for anything, and
 * text that were to become code in spite of being escaped would not run.
 */
export function pageHtml(page: RunPage): string {
	const { outcome } = page;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${html(`${outcome.word}: ${titleOf(page)}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
${head(page)}
${counts(page)}
${facts(page)}
${pace(page)}
${tablesOf(page).map(table).join("\n")}
${changes(page)}
</main>
<footer>Written by ragtag ${html(page.ragtag)}. This file needs no other file and no network.</footer>
</body>
</html>
`;
}

function policy(): string {
	const hash = createHash("sha256").update(style).digest("base64");
	return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}

function head(page: RunPage): string {
	const { outcome, reasons, next } = page;
	const why = reasons.map((text) => `<p class="reason">${html(text)}</p>\n`).join("");
	const commands = next.map(({ what, command }) => `<li>${html(what)}: <code>${html(command)}</code></li>`);
	return `<header>
<p class="title">${html(titleOf(page))}</p>
<h1><span class="outcome ${outcome.tone}">${html(outcome.word)}</span> ${html(outcome.sentence)}</h1>
${why}${commands.length === 0 ? "" : `<section class="next"><h2>Next</h2><ul>${commands.join("")}</ul></section>`}
</header>`;
}

/** The colour of a count. */
const TONES: ReadonlyMap<string, string> = new Map([
	["failed", "bad"],
	["invalid", "bad"],
	["pending", "open"],
]);

function counts({ totals }: RunPage): string {
	if (totals === undefined) return "";
	const items = [["rows", totals.rows] as const, ...countsOf(totals)].map(([name, count]) => {
		return `<li class="${TONES.get(name) ?? ""}"><b>${numberText(count)}</b> ${name}</li>`;
	});
	return `<ul class="counts">${items.join("")}</ul>`;
}

function facts(page: RunPage): string {
	const items = factsOf(page).map(([name, text]) => `<dt>${html(name)}</dt><dd>${html(text)}</dd>`);
	return `<dl class="facts">${items.join("")}</dl>`;
}

function pace({ chart, run }: RunPage): string {
	if (run === undefined) return "";
	const none = `<p class="none">No chart: the run was too short, or its record has no figures.</p>`;
	return `<section><h2>Pace</h2>\n${chart === undefined ? none : chartFigure(chart)}</section>`;
}

/** Characters of a value in a cell. */
const LONGEST_VALUE = 300;

/** Lines of the list of equal changes: what is rarer is in the table. */
const MOST_GROUPS = 50;

/** What the run wrote: equal changes once, then a row for each document. */
function changes({ changes: { rows, total } }: RunPage): string {
	if (total === 0) return "";
	const groups = new ChangeGroups((text) => `<code>${html(text, LONGEST_VALUE)}</code>`);
	for (const change of rows) groups.add(change);
	const lines = groups.lines().slice(0, MOST_GROUPS);
	const list = lines.map(({ text }) => `<li>${text}</li>`).join("");
	const of = total > rows.length ? ` <small>of the first ${numberText(rows.length)} documents</small>` : "";
	const equal = list === "" ? "" : `<section class="next"><h2>Equal changes${of}</h2><ul>${list}</ul></section>\n`;
	const body = rows.map((change) => {
		const { line, documentId, action, name } = change;
		const what = name === undefined ? html(documentId) : `${html(name)}<br>${html(documentId)}`;
		return [String(line), what, action, keysHtml(change)];
	});
	const columns = ["Line", "Document", "Action", "Metadata"];
	return equal + section({ id: "changes", title: "Changes", columns, rows: body, total });
}

/** A line for each key. The signs repeat what the colours say. */
function keysHtml({ difference, isBeforeKnown }: PageChange): string {
	return shownKeys(difference)
		.map(({ key, action, from, to }) => {
			const name = `<b>${html(key, LONGEST_VALUE)}</b>`;
			if (action === "remove") return `<div class="del">− ${name} <del>${value(from)}</del></div>`;
			if (action === "add") return `<div class="add">${isBeforeKnown ? "+" : "="} ${name} ${value(to)}</div>`;
			return `<div class="mod">~ ${name} <del>${value(from)}</del> → ${value(to)}</div>`;
		})
		.join("");
}

/** As JSON, so that the text "5" and the number 5 differ. */
function value(json: JsonValue | undefined): string {
	return json === undefined ? "" : html(JSON.stringify(json), LONGEST_VALUE);
}

function table(each: PageTable): string {
	return section({ ...each, rows: each.rows.map((row) => row.map((cell) => html(cell))) });
}

/** The classes of the cells of a column. */
const CLASSES: ReadonlyMap<string, string> = new Map([
	...NUMERIC.map((name) => [name, "n"] as const),
	["Document", "id"],
	["Code", "code"],
]);

/** A table whose cells are HTML. */
function section({ id, title, columns, rows, total }: PageTable): string {
	const classes = columns.map((name) => CLASSES.get(name) ?? "");
	const head = columns.map((name) => `<th${NUMERIC.includes(name) ? ' class="n"' : ""}>${name}</th>`);
	const body = rows.map(
		(row) => `<tr>${row.map((cell, at) => `<td class="${classes[at]}">${cell}</td>`).join("")}</tr>`,
	);
	const cut =
		total > rows.length ? `<p class="cut">The first ${numberText(rows.length)} of ${numberText(total)}.</p>` : "";
	return `<section class="rows" id="${id}"><h2>${title} <small>${numberText(total)}</small></h2>
${cut}<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>
${body.join("\n")}
</tbody></table></div></section>`;
}
