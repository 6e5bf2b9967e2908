import type { JsonValue } from "../../json/values.ts";
import { numberText } from "../../text/words.ts";
import { ChangeGroups } from "../change-groups.ts";
import { shownKeys } from "../change-tally.ts";
import { html } from "./escape.ts";
import type { Cut, PageChange, PageFailure, RunPage } from "./model.ts";

/** Characters of a value in a cell. */
const LONGEST_VALUE = 300;

/** The failed or the invalid rows of a run. */
export function failureTable(id: "failed" | "problems", title: string, { rows, total }: Cut<PageFailure>): string {
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
export function changeTable({ rows, total }: RunPage["changes"]): string {
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
		return `<tr><td class="n">${line ?? ""}</td><td class="id">${what}</td><td>${action}</td><td>${keysHtml(change)}</td></tr>`;
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
export function codeTable(codes: RunPage["codes"]): string {
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
