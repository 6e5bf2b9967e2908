import type { JsonValue } from "../../src/json/values.ts";
import { chartOf } from "../../src/report/page/chart.ts";
import { outcomeOf, type PageChange, type PageFailure, type RunPage } from "../../src/report/page/model.ts";
import { noOutcomes } from "../../src/outcomes.ts";
import type { SeriesPoint } from "../../src/run/series/series-file.ts";
import type { Totals } from "../../src/run/types.ts";

/** Text that ends elements, begins others, and reverses what follows it. */
export const HOSTILE = `</script></style>"'><img src=x onerror=alert(1)> \u202egnp.exe\u2028 \`<b>\``;

export function totalsOf(counts: Partial<Totals>): Totals {
	return { ...noOutcomes(), rows: 0, invalid: 0, duplicateSkipped: 0, pending: 0, attempts: 0, ...counts };
}

/** That many seconds of a run that sends 50 requests a second. @param from epoch seconds */
export function examplePoints(seconds: number, from = 1000): SeriesPoint[] {
	return Array.from({ length: seconds }, (_, at) => ({
		t: from + at + 1,
		s: 1,
		sent: 50,
		done: 50 * (at + 1),
		failed: 0,
		p50: 20,
		p95: 45,
		state: "running",
		in_flight: 2,
		cap: 100,
	}));
}

/** A report of three rows, one of which failed. @param hostile puts hostile text wherever foreign text may stand */
export function examplePage({ hostile = false, rows = 1, points }: ExampleOptions = {}): RunPage {
	const foreign = (text: string): string => (hostile ? HOSTILE : text);
	const totals = totalsOf({ rows: 3 * rows, updated: 2 * rows, failed: rows, attempts: 4 * rows });
	const series = points ?? examplePoints(20);
	const failures = Array.from({ length: rows }, (_, at): PageFailure => {
		const id = at.toString(16).padStart(32, "f");
		return {
			line: 3 + at,
			documentId: foreign(id),
			code: foreign("NOT_FOUND"),
			text: foreign(`document ${id} is not there`),
			attempts: 1,
		};
	});
	const changes = Array.from({ length: rows }, (_, at): PageChange => {
		const to: JsonValue = foreign(`Engine ${at}`);
		const difference = { add: new Map([[foreign("title"), to]]), change: new Map(), remove: new Map() };
		const documentId = foreign(at.toString(16).padStart(32, "0"));
		return {
			line: 2 + at,
			datasetId: "d1",
			documentId,
			action: "update",
			name: undefined,
			difference,
			isBeforeKnown: true,
		};
	});
	return {
		command: "docs tag",
		ragtag: "0.1.0",
		outcome: outcomeOf({ totals, exit: 1, verify: undefined }),
		reasons: hostile ? [HOSTILE] : [],
		next: [{ what: "Try the failed rows again", command: "ragtag runs retry 20261122T000000-000000" }],
		service: "https://rag.example.com/api/v1",
		datasets: [{ id: "d1", name: foreign("reports") }],
		settings: [["Mode", foreign("merge")]],
		manifest: foreign("tags.csv"),
		started: "2026-11-22T00:00:00.000Z",
		ended: "2026-11-22T00:00:20.000Z",
		executions: 1,
		run: "20261122T000000-000000",
		totals,
		seconds: 20,
		exit: 1,
		slow: [],
		verify: undefined,
		chart: chartOf(series),
		codes: rows === 0 ? [] : [{ code: foreign("NOT_FOUND"), count: rows, example: foreign("document is not there") }],
		failures: { rows: failures, total: rows },
		problems: { rows: [], total: 0 },
		changes: { rows: changes, total: rows },
	};
}

type ExampleOptions = { readonly hostile?: boolean; readonly rows?: number; readonly points?: readonly SeriesPoint[] };
