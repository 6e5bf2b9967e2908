import { OUTCOMES } from "../../outcomes.ts";
import { foundRateText } from "../adjusted.ts";
import { createHash } from "node:crypto";
import { durationText, numberText } from "../../text/words.ts";
import { verifyText } from "../verify.ts";
import style from "asset:./page.css";
import { chartFigure } from "./chart.ts";
import { html } from "./escape.ts";
import type { RunPage } from "./model.ts";
import { changeTable, codeTable, failureTable } from "./tables.ts";

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
	const slow = page.slow.map((each) => `${durationText(each.seconds)} ${causeText(each.cause)}`);
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
		["Held up", slow.length === 0 ? undefined : slow.join(", ")],
		["Run", page.run],
		["Exit code", exit === undefined ? undefined : String(exit)],
	];
	const items = all.map(([name, text]) => (text === undefined ? "" : `<dt>${html(name)}</dt><dd>${html(text)}</dd>`));
	return `<dl class="facts">${items.join("")}</dl>`;
}

function causeText(cause: string): string {
	if (/^\d+$/.test(cause)) return `waiting for ${cause}`;
	return cause === "concurrency" ? "requests in flight at their limit" : cause;
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
