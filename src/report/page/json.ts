import { shownKeys } from "../change-tally.ts";
import type { PageChange, PageFailure, RunPage } from "./model.ts";

/** Increased when the meaning of a member changes. Members may be added. */
const SCHEMA = 1;

/** The report as one JSON object. Its texts are exact, not escaped for a terminal. */
export function pageJson(page: RunPage): string {
	const { outcome, totals, chart, failures, problems, changes, next, reasons } = page;
	const { duplicateSkipped, ...counts } = totals ?? { duplicateSkipped: 0 };
	const object = {
		type: "report",
		schema: SCHEMA,
		ragtag: page.ragtag,
		command: page.command,
		run: page.run ?? null,
		outcome: outcome.word,
		text: outcome.sentence,
		reasons,
		next,
		exit_code: page.exit ?? null,
		service: page.service ?? null,
		datasets: page.datasets.map(({ id, name }) => ({ dataset_id: id, name: name ?? null })),
		manifest: page.manifest ?? null,
		settings: Object.fromEntries(page.settings),
		started: page.started ?? null,
		ended: page.ended ?? null,
		seconds: page.seconds ?? null,
		executions: page.executions,
		counts: totals === undefined ? null : { ...counts, duplicate_skipped: duplicateSkipped },
		slow: page.slow,
		found_rate: page.foundRate ?? null,
		verify: page.verify ?? null,
		codes: page.codes,
		failed_rows: { total: failures.total, rows: failures.rows.map(failure) },
		problems: { total: problems.total, rows: problems.rows.map(failure) },
		changes: { total: changes.total, rows: changes.rows.map(change) },
		charts: chart === undefined ? [] : [chart],
	};
	return `${JSON.stringify(object)}\n`;
}

function failure({ line, documentId, code, text, attempts }: PageFailure): object {
	return { line, document_id: documentId === "" ? null : documentId, error_code: code, error: text, attempts };
}

function change({ line, datasetId, documentId, action, name, difference, isBeforeKnown }: PageChange): object {
	return {
		line,
		dataset_id: datasetId,
		document_id: documentId === "" ? null : documentId,
		action,
		name: name ?? null,
		before_known: isBeforeKnown,
		keys: shownKeys(difference),
	};
}
