import { DELETE_TOKEN } from "../json/list-change.ts";
import { type ChangeFormat, CHANGE_FORMATS, DEFAULT_LIMIT_CHARACTERS } from "../report/changes.ts";
import { alternatives, numberText } from "../text/words.ts";
import type { Given } from "./flags.ts";
import { choice, Flag, oneOf, toggle, valued, type ValuesOf } from "./declare.ts";
import { parseCount, parseNonEmpty } from "./values.ts";

/** Options for how a row changes its document. */
export const CHANGE = {
	mode: choice(
		"--mode <mode>",
		["replace", "merge"],
		"merge keeps keys that a row does not carry, replace removes them",
	),
	deleteToken: valued(
		"--delete-token <text>",
		`with --mode merge: a value of this text removes its key (default: ${DELETE_TOKEN})`,
		parseNonEmpty,
	).rule(
		"needs",
		"--mode merge",
		"Add --mode merge, or leave --delete-token out: a replace run removes every key that a row does not have.",
		// With another token, the usual one and lists that look like a change are plain values.
		`--delete-token ${DELETE_TOKEN}`,
	),
};

/** Whether documents that no row names are reported, or are a difference. */
export const UNDECLARED = {
	undeclared: oneOf(
		"--undeclared <what>",
		["report", "fail"],
		"documents of the same datasets that no row names: lists them, or lists them and exits 10",
	).rule(
		"excludes",
		"--skip-invalid",
		"An invalid row may name a document. Fix the invalid rows, or leave --undeclared out.",
	),
};

/** Fewest characters that hold the counts and the sentence of what was left out, and the most that are collected. */
const LIMIT_CHARACTERS = { least: 1_000, most: 1_000_000 };

/**
 * @param when words before the purpose of `--format`: `with --dry-run: `
 * @param without the options without which they mean nothing
 */
export function changeFormatOptions(when: string, without?: string) {
	const uses = alternatives(Object.values(CHANGE_FORMATS).map(({ use }) => use));
	const { least, most } = LIMIT_CHARACTERS;
	const format = new Flag<ChangeFormat>("--format <format>", `${when}${uses}`).choices(Object.keys(CHANGE_FORMATS));
	const limitCharacters = valued(
		"--limit-characters <n>",
		`with --format md: characters at most; a comment of GitHub has 65,536 (default: ${numberText(DEFAULT_LIMIT_CHARACTERS)})`,
		parseCount(least, most),
	);
	if (without !== undefined) for (const flag of [format, limitCharacters]) flag.rule("needs", without);
	return {
		format: format.rule("excludes", "--json"),
		limitCharacters: limitCharacters.rule("needs", "--format md"),
	};
}

/** Options of commands that have a dry run. @param without the options with which nothing is written */
export function dryRunOptions(without = "--dry-run") {
	const hint = `--verify reads back what was written, and ${without} writes nothing.`;
	return {
		dryRun: toggle("-n, --dry-run", "shows what would change, row by row, and sends nothing that writes").rule(
			"excludes",
			without,
			hint,
			"--verify sample or --verify all",
		),
		detailedExitcode: toggle("--detailed-exitcode", "with --dry-run: exit 10 if anything would change").rule(
			"needs",
			without,
		),
		...changeFormatOptions("with --dry-run: ", without),
	};
}

export type DryRunFlags = ValuesOf<ReturnType<typeof dryRunOptions>>;

/** The same of commands that ask nothing: scripts give `-y` to each command that writes. */
export function unaskedOptions(without?: string) {
	const yes = toggle("-y, --yes", "for scripts that give it to every command; this one asks nothing");
	return { ...dryRunOptions(without), yes };
}

/** The format of the changes that the flags choose. */
export function changeFormat({ format = "text", json }: DryRunFlags & Given<{ json: boolean }>): ChangeFormat | "json" {
	return json === true ? "json" : format;
}
