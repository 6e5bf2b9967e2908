import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { App } from "../../app.ts";
import { Exit, type ExitCode, reason } from "../../errors.ts";
import { isAbove } from "../../files/facts.ts";
import { pageMarkdown } from "../../report/page/markdown.ts";
import type { RunEnd } from "../../run-end.ts";
import { namedDocument } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { pageOf } from "./report-file.ts";

/** One thing that is wrong with a line of a manifest, or with the run as a whole. */
type Finding = {
	/** as messages name it; undefined for the run as a whole */
	readonly file?: string | undefined;
	/** from 1, as the column */
	readonly line?: number | undefined;
	readonly column?: number | undefined;
	readonly code: string;
	readonly text: string;
	/** what stays the same when lines move: the document or the field */
	readonly subject: string;
};

/** Codes that are no fault of the run itself: its rows say what failed. */
const ROWS_FAILED: ReadonlySet<ExitCode> = new Set([Exit.failedRows, Exit.manifest]);

/** What is wrong, the run itself first, then the problems of its manifest and its failed rows. Nothing for a good run. */
function findingsOf({ exit, text, problems, failedRows }: RunEnd): readonly Finding[] {
	const rows = [
		...problems.map(({ field, ...problem }): Finding => ({ ...problem, subject: field ?? "" })),
		...failedRows.map(({ file, line, code, text: what, path, name, documentId }): Finding => {
			const subject = path ?? documentId;
			const about = subject === "" ? what : `${path ?? namedDocument(name, documentId)}: ${what}`;
			return { file, line, code, text: about, subject };
		}),
	];
	if (exit === Exit.ok || (ROWS_FAILED.has(exit) && rows.length > 0)) return rows;
	return [{ code: `exit ${exit}`, text, subject: "" }, ...rows];
}

/**
 * The path of a file from the root of the repository, with slashes; undefined where there is no such file in it. Messages call
 * standard input and the manifest of a plan by names that are no paths.
 */
export function pathInWorkspace(file: string, workspace: string | undefined): string | undefined {
	const full = resolve(file);
	const path = relative(workspace ?? resolve("."), full);
	if (path === "" || isAbove(path) || !existsSync(full)) return undefined;
	return path.split(sep).join("/");
}

/** GitHub shows ten errors of a step. */
const SHOWN = 10;

/**
 * The findings of a run as workflow commands of GitHub Actions, a line each.
 *
 * @param toPath the path of a file from the root of the workspace; undefined where GitHub could not find it
 */
export function githubLines(end: RunEnd, toPath: (file: string) => string | undefined): readonly string[] {
	const findings = findingsOf(end);
	const lines = findings.slice(0, SHOWN).map(({ file, line, column, code, text }) => {
		const path = file === undefined ? undefined : toPath(file);
		const at = file === undefined || path !== undefined ? "" : `${file}:${line}: `;
		const place = path === undefined ? {} : { file: path, line, col: column };
		const properties = Object.entries({ ...place, title: `ragtag ${end.command}: ${code}` })
			.filter(([, value]) => value !== undefined)
			.map(([name, value]) => `${name}=${property(String(value))}`);
		return `::error ${properties.join(",")}::${data(at + text)}`;
	});
	const more = findings.length - lines.length + end.unlisted;
	// A warning, because an eleventh error would not be shown.
	if (more > 0) lines.push(`::warning title=ragtag ${end.command}::${numberText(more)} more; --json lists all of them`);
	return lines;
}

/** As `escapeData` of actions/toolkit (packages/core/src/command.ts). */
function data(text: string): string {
	return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** As `escapeProperty` there. */
function property(text: string): string {
	return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/**
 * The findings of a run as a report of code quality, the members that GitLab's documentation asks for. An empty array for a
 * good run.
 *
 * @param toPath the path of a file from the root of the repository; undefined where it is not in it
 */
export function gitlabText(end: RunEnd, toPath: (file: string) => string | undefined): string {
	const taken = new Map<string, number>();
	const issues = findingsOf(end).map((finding) => {
		const { file, line, code, text } = finding;
		const [first = end.command] = end.args;
		// GitLab shows no issue without a file: that of the run itself is shown at its manifest.
		const path = toPath(file ?? first) ?? file ?? first;
		return {
			description: text,
			check_name: `ragtag: ${code}`,
			fingerprint: fingerprintOf(path, finding, taken),
			severity: file === undefined ? "critical" : "major",
			location: { path, lines: { begin: line ?? 1 } },
		};
	});
	return `${JSON.stringify(issues, undefined, "\t")}\n`;
}

/** The same for the same finding in the next pipeline, also where lines have moved. Two of one report differ. */
function fingerprintOf(path: string, { code, text, subject }: Finding, taken: Map<string, number>): string {
	const what = [path, code, subject, text].join("\0");
	const nth = taken.get(what) ?? 0;
	taken.set(what, nth + 1);
	return createHash("sha256").update(`${what}\0${nth}`).digest("hex");
}

/**
 * Annotates the lines of a manifest in GitHub, and appends to the summary of the step. The lines go
 * to standard error: GitHub's runner reads both streams, and results on standard output stay what they are.
 */
export async function annotate({ runEnd, io, ci }: App, exit: ExitCode): Promise<void> {
	const end = runEnd.endOf(exit);
	// With --progress json, standard error holds JSON alone.
	if (runEnd.flags.progress !== "json") {
		for (const line of githubLines(end, (file) => pathInWorkspace(file, ci.workspace))) io.annotation(line);
	}
	if (ci.stepSummary === undefined) return;
	try {
		await appendFile(ci.stepSummary, pageMarkdown(pageOf(end)));
	} catch (error) {
		io.note(`The summary of the step was not written: ${reason(error)}`);
	}
}
