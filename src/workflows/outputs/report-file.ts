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

/** A report in the form that the name of its file says. */
async function reportText(page: RunPage, path: string): Promise<string> {
	const form = FORMS[extname(path).toLowerCase()];
	if (form === undefined) throw new Error("the name of a report ends in .html, .md or .json");
	return form(page);
}

/** The report of a command that ends: of its recorded run, or of what is known where none was recorded. */
export async function endedReport(end: RunEnd, path: string): Promise<string> {
	const { folder, summary, exit } = end;
	// The file of the summary is written after the report.
	const members = { ...summary, exit_code: exit, ended: end.ended.toISOString(), wrote: true };
	const ended = summary && summaryIn(members);
	const page = folder === undefined ? undefined : await recordedPage(folder, ended);
	return reportText({ ...(page ?? unrecordedPage(end)), problems: problemsOf(end) }, path);
}

function problemsOf({ problems, problemCount }: RunEnd): RunPage["problems"] {
	const rows = problems.map(({ line, code, text }) => ({ line, documentId: "", code, text, attempts: 0 }));
	return { rows: rows.slice(0, MOST_PROBLEMS), total: problemCount };
}

const MOST_PROBLEMS = 5000;

/** A dry run, or a command that ended before it could record a run. */
function unrecordedPage({ command, args, exit, text, summary, started, ended, ...end }: RunEnd): RunPage {
	const totals = summary && { ...summary, duplicateSkipped: summary.duplicate_skipped };
	const verify = summary?.verify ?? undefined;
	return {
		command,
		ragtag: VERSION,
		run: undefined,
		outcome: outcomeOf({ totals, exit, verify }),
		reasons: text.split("\n").filter((line) => line !== ""),
		next: [],
		service: undefined,
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
		charts: [],
		codes: [],
		failures: { rows: end.failedRows, total: end.failedRowCount },
		problems: { rows: [], total: 0 },
		changes: { rows: [], total: 0 },
	};
}
