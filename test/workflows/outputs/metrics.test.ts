import { describe, expect, it } from "vitest";
import { noOutcomes } from "../../../src/outcomes.ts";
import { summaryOf } from "../../../src/report/summary.ts";
import { metricsText } from "../../../src/workflows/outputs/metrics.ts";
import { samplesOf } from "../../support/metrics.ts";
import { runEnd } from "../../support/run-end.ts";

const TOTALS = { ...noOutcomes(), rows: 9, updated: 3, unchanged: 1, failed: 2, invalid: 1 };
const slow = [
	{ cause: "429", seconds: 84 },
	{ cause: "concurrency", seconds: 3 },
];
const pace = { requests: 17, seconds: 4, latency: 100, concurrency: 4, cap: undefined, slow };
const totals = { ...TOTALS, duplicateSkipped: 0, pending: 2, attempts: 11 };
const result = { totals, seconds: 4, stop: undefined, pace };
const LABELS = 'command="docs tag",manifest="tags.csv"';
const ENDED = String(Date.parse("2026-11-22T17:00:04Z") / 1000);

describe("the metrics of a run", () => {
	it("are gauges that a parser of Prometheus reads, with the counts, the requests and the waits", () => {
		expect(samplesOf(metricsText(runEnd({ summary: summaryOf(result, 0), result }), undefined))).toEqual({
			[`ragtag_last_run_timestamp_seconds{${LABELS}}`]: ENDED,
			[`ragtag_last_run_exit_code{${LABELS}}`]: "0",
			[`ragtag_last_run_duration_seconds{${LABELS}}`]: "4",
			[`ragtag_last_success_timestamp_seconds{${LABELS}}`]: ENDED,
			[`ragtag_last_run_rows{${LABELS},result="updated"}`]: "3",
			[`ragtag_last_run_rows{${LABELS},result="unchanged"}`]: "1",
			[`ragtag_last_run_rows{${LABELS},result="uploaded"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="replaced"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="renamed"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="removed"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="parsed"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="downloaded"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="failed"}`]: "2",
			[`ragtag_last_run_rows{${LABELS},result="invalid"}`]: "1",
			[`ragtag_last_run_rows{${LABELS},result="duplicate_skipped"}`]: "0",
			[`ragtag_last_run_rows{${LABELS},result="pending"}`]: "2",
			[`ragtag_last_run_retries{${LABELS}}`]: "5",
			[`ragtag_last_run_requests{${LABELS}}`]: "17",
			[`ragtag_last_run_waited_seconds{${LABELS},cause="429"}`]: "84",
			[`ragtag_last_run_waited_seconds{${LABELS},cause="503"}`]: "0",
			[`ragtag_last_run_waited_seconds{${LABELS},cause="outage"}`]: "0",
		});
	});

	it("keep the time of the last success through failures of every kind", () => {
		const success = metricsText(runEnd(), undefined);
		const ended = new Date("2026-11-23T17:00:04Z");
		const failed = metricsText(runEnd({ exit: 6, ended }), success);
		const again = samplesOf(metricsText(runEnd({ exit: 143, ended }), failed));
		expect(again[`ragtag_last_success_timestamp_seconds{${LABELS}}`]).toBe(ENDED);
		expect(again[`ragtag_last_run_exit_code{${LABELS}}`]).toBe("143");
	});

	it("claim no success, no rows and no requests where none is known", () => {
		const before = "ragtag_last_success_timestamp_seconds{} soon\n";
		expect(Object.keys(samplesOf(metricsText(runEnd({ exit: 2 }), before)))).toEqual([
			`ragtag_last_run_timestamp_seconds{${LABELS}}`,
			`ragtag_last_run_exit_code{${LABELS}}`,
			`ragtag_last_run_duration_seconds{${LABELS}}`,
		]);
	});

	it("are read back whatever the manifest is called, and have no label that changes from run to run", () => {
		const name = 'a"b\\c\nd}e 1';
		const first = metricsText(runEnd({ args: [name] }), undefined);
		const label = `manifest=${JSON.stringify(name)}`;
		const failed = samplesOf(metricsText(runEnd({ args: [name], exit: 1 }), first));
		expect(failed[`ragtag_last_success_timestamp_seconds{command="docs tag",${label}}`]).toBe(ENDED);
		const resumed = metricsText(runEnd({ command: "runs resume", args: ["20261121T170000-1a2b3c"] }), undefined);
		expect(Object.keys(samplesOf(resumed))).toContain('ragtag_last_run_exit_code{command="runs resume"}');
	});
});
