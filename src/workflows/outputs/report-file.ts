import { extname } from "node:path";
import { outcomeOf, type RunPage } from "../../report/page/model.ts";
import type { RunEnd } from "../../run-end.ts";
import { VERSION } from "../../version.ts";
import { summaryIn } from "../../run/recorded/run-summary.ts";
import { recordedPage } from "../recorded/run-page.ts";

/** The forms of a report, by the ends of their files' names. Each is loaded when it is asked for. */
const FORMS: Readonly<Record<string, (page: RunPage) => Promise<string>>> = {
	".html": async (page) => (await import("../../report/page/page.ts")).pageHtml(page),
	".md": async (page) => (await import("../../report/page/markdown.ts")).pageMarkdown(page),
	".json": async (page) => (await import("../../report/page/json.ts")).pageJson(page),
};

/** The report of a command that ends, of its recorded run where there is one, in the form that the name of its file says. */
export async function endedReport(end: RunEnd, path: string): Promise<string> {
	const form = FORMS[extname(path).toLowerCase()];
	if (form === undefined) throw new Error("the name of a report ends in .html, .md or .json");
	const { folder, summary, exit } = end;
	// The file of the summary is written after the report.
	const members = { ...summary, exit_code: exit, ended: end.ended.toISOString(), wrote: true };
	const ended = summary && summaryIn(members);
	return form({ ...pageOf(end), ...(folder === undefined ? undefined : await recordedPage(folder, ended)) });
}

const MOST_PROBLEMS = 5000;

/** What is known of a command that ends, without the record of its run. */
export function pageOf({ command, args, exit, text, result, summary, started, ended, ...end }: RunEnd): RunPage {
	// A check sends nothing: that its rows are pending says nothing.
	const totals = command === "manifest check" ? undefined : result?.totals;
	const verify = result?.verify?.counts;
	const problems = end.problems.slice(0, MOST_PROBLEMS).map(({ file, line, code, text: what }) => {
		return { line, documentId: "", code, text: file === args[0] ? what : `${file}: ${what}`, attempts: 0 };
	});
	return {
		command,
		ragtag: VERSION,
		outcome: outcomeOf({ totals, exit, verify }),
		reasons: text.split("\n").filter((line) => line !== ""),
		next: [],
		datasets: [],
		manifest: args[0],
		settings: [],
		started: started.toISOString(),
		ended: ended.toISOString(),
		executions: 0,
		totals,
		seconds: (ended.getTime() - started.getTime()) / 1000,
		exit,
		slow: summary?.slow ?? [],
		verify,
		chart: undefined,
		codes: [],
		failures: { rows: end.failedRows, total: end.failedRowCount },
		problems: { rows: problems, total: end.problemCount },
		changes: { rows: [], total: 0 },
	};
}
