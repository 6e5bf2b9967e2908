import { Exit } from "../../errors.ts";
import { OUTCOMES, countSettled } from "../../outcomes.ts";
import type { RunEnd } from "../../run-end.ts";

type Sample = { readonly labels?: Readonly<Record<string, string>> | undefined; readonly value: number };

const LAST_SUCCESS = "ragtag_last_success_timestamp_seconds";

/** Causes that always have a sample, so that an alert finds a zero and not nothing. */
const CAUSES = ["429", "503", "outage"];

/**
 * The run as gauges, in the text format that Prometheus' node exporter reads from a folder. The exit code is the one with
 * which the program ends. Unknown figures are left out: a manifest that was refused has no requests.
 *
 * @param before the text of the file that is there, for the time of the last success
 */
export function metricsText(end: RunEnd, before: string | undefined): string {
	const { exit, started, ended, summary, result } = end;
	const pace = result?.pace;
	const labels = labelsOf(end);
	const families: string[] = [];
	const add = (name: string, help: string, ...samples: readonly Sample[]): void => {
		if (samples.length === 0) return;
		const lines = samples.map(
			(sample) => `${name}${labelText({ ...labels, ...sample.labels })} ${String(sample.value)}\n`,
		);
		families.push(`# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`);
	};
	add("ragtag_last_run_timestamp_seconds", "When the last run ended.", { value: seconds(ended) });
	add("ragtag_last_run_exit_code", "Exit code of the last run.", { value: exit });
	add("ragtag_last_run_duration_seconds", "How long the last run took.", {
		value: (ended.getTime() - started.getTime()) / 1000,
	});
	const success = exit === Exit.ok ? seconds(ended) : lastSuccessOf(before);
	if (success !== undefined) add(LAST_SUCCESS, "When the last run with exit code 0 ended.", { value: success });
	if (summary !== undefined) {
		const results = [...OUTCOMES, "invalid", "duplicate_skipped", "pending"] as const;
		const rows = results.map((result) => ({ labels: { result }, value: summary[result] }));
		add("ragtag_last_run_rows", "Rows of the last run by result.", ...rows);
		const retries = { value: Math.max(0, summary.attempts - countSettled(summary)) };
		add("ragtag_last_run_retries", "Attempts of rows of the last run beyond the first of each.", retries);
	}
	if (pace !== undefined) {
		add("ragtag_last_run_requests", "Requests for the rows of the last run.", { value: pace.requests });
		const waited = new Map(CAUSES.map((cause) => [cause, 0]));
		for (const { cause, seconds: time } of pace.slow) if (waited.has(cause)) waited.set(cause, time);
		const samples = [...waited].map(([cause, value]) => ({ labels: { cause }, value }));
		add("ragtag_last_run_waited_seconds", "How long the last run waited, by cause.", ...samples);
	}
	return `${families.join("")}# EOF\n`;
}

/**
 * Labels that distinguish the jobs of one machine. The name of a run is no label, as each run would begin a new series.
 */
function labelsOf({ command, args }: RunEnd): Record<string, string> {
	const [manifest] = args;
	const isManifest = command.startsWith("docs ") && args.length === 1 && manifest !== undefined;
	return isManifest ? { command, manifest } : { command };
}

/** A file is of one job, whatever its labels: a resumed run goes on with the job of the run. */
function lastSuccessOf(before: string | undefined): number | undefined {
	const value = /^ragtag_last_success_timestamp_seconds(?:\{.*\})? (\S+)$/m.exec(before ?? "")?.[1];
	return value !== undefined && Number.isFinite(Number(value)) ? Number(value) : undefined;
}

function seconds(time: Date): number {
	return time.getTime() / 1000;
}

/** The format escapes three characters in a label (prometheus/docs, exposition_formats.md). */
function labelText(labels: Readonly<Record<string, string>>): string {
	const pairs = Object.entries(labels).map(([name, value]) => {
		const escaped = value
			.replaceAll("\\", String.raw`\\`)
			.replaceAll('"', String.raw`\"`)
			.replaceAll("\n", String.raw`\n`);
		return `${name}="${escaped}"`;
	});
	return `{${pairs.join(",")}}`;
}
