import { createHash } from "node:crypto";
import style from "asset:./page.css";
import { OUTCOMES } from "../../outcomes.ts";
import { causesText, foundRateText } from "../pace.ts";
import { durationText, numberText } from "../../text/words.ts";
import { verifyText } from "../verify.ts";
import { chartFigure } from "./chart.ts";
import { html } from "../escape.ts";
import type { Cut, PageChange, PageFailure, RunPage } from "./model.ts";
import type { JsonValue } from "../../json/values.ts";
import { ChangeGroups } from "../change-groups.ts";
import { shownKeys } from "../change-tally.ts";

/**
 * The report as one HTML file. Its policy allows nothing but its own style, so the page can't ask any server for anything, and
 * text that were to become code in spite of being escaped would not run.
 */
export function pageHtml(page: RunPage): string {
	const { outcome, command, manifest } = page;
	const title = `ragtag ${command}${manifest === undefined ? "" : ` ${manifest}`}`;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${html(`${outcome.word}: ${title}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
${head(page, title)}
${counts(page)}
${facts(page)}
${charts(page)}
${verification(page)}
${failureTable("problems", "Invalid rows of the manifest", page.problems)}
${codeTable(page.codes)}
${failureTable("failed", "Failed rows", page.failures)}
${changeTable(page.changes)}
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

function head({ outcome, reasons, next }: RunPage, title: string): string {
	const why = reasons.map((text) => `<p class="reason">${html(text)}</p>\n`).join("");
	const commands = next.map(({ what, command }) => `<li>${html(what)}: <code>${html(command)}</code></li>`);
	return `<header>
<p class="title">${html(title)}</p>
<h1><span class="outcome ${outcome.tone}">${html(outcome.word)}</span> ${html(outcome.sentence)}</h1>
${why}${commands.length === 0 ? "" : `<section class="next"><h2>Next</h2><ul>${commands.join("")}</ul></section>`}
</header>`;
}

function counts({ totals }: RunPage): string {
	if (totals === undefined) return "";
	const all: readonly (readonly [string, number, string])[] = [
		["rows", totals.rows, ""],
		...OUTCOMES.map((outcome) => [outcome, totals[outcome], outcome === "failed" ? "bad" : ""] as const),
		["invalid", totals.invalid, "bad"],
		["duplicates skipped", totals.duplicateSkipped, ""],
		["pending", totals.pending, "open"],
	];
	const shown = all.filter(([name, count]) => count > 0 || name === "rows" || name === "failed");
	const items = shown.map(([name, count, tone]) => {
		const mark = tone === "" || count === 0 ? "" : ` class="${tone}"`;
		return `<li${mark}><b>${numberText(count)}</b> ${name}</li>`;
	});
	return `<ul class="counts">${items.join("")}</ul>`;
}

function facts(page: RunPage): string {
	const { totals, seconds, exit, datasets, executions } = page;
	const names = datasets.map(({ id, name }) => (name === undefined ? id : `${name} (${id})`));
	const all: readonly (readonly [string, string | undefined])[] = [
		["Command", `ragtag ${page.command}`],
		["Manifest", page.manifest],
		["Service", page.service],
		[datasets.length > 1 ? "Datasets" : "Dataset", names.length === 0 ? undefined : names.join(", ")],
		...page.settings,
		["Started", page.started === undefined ? undefined : timeText(page.started)],
		["Ended", page.ended === undefined ? undefined : timeText(page.ended)],
		["Duration", seconds === undefined ? undefined : durationText(seconds)],
		["Executions", executions > 1 ? String(executions) : undefined],
		["Attempts", totals === undefined ? undefined : numberText(totals.attempts)],
		["Rate", page.foundRate && foundRateText(page.foundRate)],
		["Held up", page.slow.length === 0 ? undefined : causesText(page.slow)],
		["Run", page.run],
		["Exit code", exit === undefined ? undefined : String(exit)],
	];
	const items = all.map(([name, text]) => (text === undefined ? "" : `<dt>${html(name)}</dt><dd>${html(text)}</dd>`));
	return `<dl class="facts">${items.join("")}</dl>`;
}

function charts({ charts: all, run }: RunPage): string {
	if (run === undefined) return "";
	const figures = all.map(chartFigure);
	const none = `<p class="none">No chart: the run was too short, or its record has no figures.</p>`;
	return `<section class="charts"><h2>Pace</h2>\n${figures.length === 0 ? none : figures.join("")}</section>`;
}

function verification({ verify }: RunPage): string {
	if (verify === undefined) return "";
	return `<section class="verification"><h2>Verification</h2><p>${html(verifyText(verify))}.</p></section>`;
}

/** `2026-11-22 08:37:36 UTC`. */
function timeText(iso: string): string {
	return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Characters of a value in a cell. */
const LONGEST_VALUE = 300;

/** The failed or the invalid rows of a run. */
function failureTable(id: "failed" | "problems", title: string, { rows, total }: Cut<PageFailure>): string {
	if (total === 0) return "";
	const isSent = id === "failed";
	const body = rows.map(({ line, documentId, code, text, attempts }) => {
		const cells = [
			`<td class="n">${line}</td>`,
			...(isSent ? [`<td class="id">${html(documentId)}</td>`] : []),
			`<td class="code">${html(code)}</td>`,
			`<td>${html(text)}</td>`,
			...(isSent ? [`<td class="n">${attempts}</td>`] : []),
		];
		return `<tr>${cells.join("")}</tr>`;
	});
	const names = isSent ? ["Line", "Document", "Code", "Error", "Attempts"] : ["Line", "Code", "Problem"];
	return section({ id, title, names, body, total });
}

/** Lines of the list of equal changes: what is rarer is in the table. */
const MOST_GROUPS = 50;

/** What the run wrote: equal changes once, then a row for each document. */
function changeTable({ rows, total }: RunPage["changes"]): string {
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
		return `<tr><td class="n">${line}</td><td class="id">${what}</td><td>${action}</td><td>${keysHtml(change)}</td></tr>`;
	});
	const names = ["Line", "Document", "Action", "Metadata"];
	return equal + section({ id: "changes", title: "Changes", names, body, total });
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

/** How many rows failed with each code, and one of their errors. */
function codeTable(codes: RunPage["codes"]): string {
	if (codes.length === 0) return "";
	const rows = codes.map(({ code, count, example }) => {
		return `<tr><td class="n">${numberText(count)}</td><td class="code">${html(code)}</td><td>${html(example, LONGEST_VALUE)}</td></tr>`;
	});
	return `<section class="codes"><h2>Failures by code</h2>
<div class="scroll"><table><thead><tr><th class="n">Rows</th><th>Code</th><th>For example</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}

type Table = {
	readonly id: string;
	readonly title: string;
	readonly names: readonly string[];
	readonly body: readonly string[];
	readonly total: number;
};

const NUMERIC: readonly string[] = ["Line", "Attempts"];

function section({ id, title, names, body, total }: Table): string {
	const head = names.map((name) => (NUMERIC.includes(name) ? `<th class="n">${name}</th>` : `<th>${name}</th>`));
	const cut =
		total > body.length ? `<p class="cut">The first ${numberText(body.length)} of ${numberText(total)}.</p>` : "";
	return `<section class="rows" id="${id}"><h2>${title} <small>${numberText(total)}</small></h2>
${cut}<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>
${body.join("\n")}
</tbody></table></div></section>`;
}
