import { createHash } from "node:crypto";
import type { RunEnd } from "../../run-end.ts";
import { type Finding, findingsOf } from "./findings.ts";

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
