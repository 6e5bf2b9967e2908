import type { RunEnd } from "../../run-end.ts";
import { numberText } from "../../text/words.ts";
import { findingsOf, unlistedOf } from "./findings.ts";

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
		const place: readonly (readonly [string, string | number | undefined])[] =
			path === undefined
				? []
				: [
						["file", path],
						["line", line],
						["col", column],
					];
		const properties = [...place, ["title", `ragtag ${end.command}: ${code}`] as const]
			.filter(([, value]) => value !== undefined)
			.map(([name, value]) => `${name}=${property(String(value))}`);
		return `::error ${properties.join(",")}::${data(at + text)}`;
	});
	const more = findings.length - lines.length + unlistedOf(end);
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
