import { type Command, Option } from "commander";
import { DELETE_TOKEN } from "../json/list-change.ts";
import type { Mode } from "../plan/change.ts";
import type { Given } from "./flags.ts";
import { addRule } from "./refuse.ts";
import { choice, parseCount, parseNonEmpty } from "./values.ts";
import { type ChangeFormat, CHANGE_FORMATS } from "../report/changes.ts";
import { DEFAULT_LIMIT_CHARACTERS } from "../report/changes-markdown.ts";
import { alternatives, numberText } from "../text/words.ts";

/** Flags for how a row changes its document. */
export type ChangeFlags = { readonly mode: Mode; readonly deleteToken?: string | undefined };

export function addChangeOptions(command: Command): Command {
	const hint =
		"Add --mode merge, or leave --delete-token out: a replace run removes every key that a row does not have.";
	// With another token, the usual one and lists that look like a change are plain values.
	addRule(command, `--delete-token ${DELETE_TOKEN}`, "needs", "--mode merge", hint);
	return command
		.addOption(
			choice("--mode <mode>", ["replace", "merge"], "merge keeps keys that a row does not carry, replace removes them"),
		)
		.option(
			"--delete-token <text>",
			`with --mode merge: a value of this text removes its key (default: ${DELETE_TOKEN})`,
			parseNonEmpty,
		);
}

/** Of commands that send or plan metadata. */
export function addTypeOption(command: Command): Command {
	return command.option(
		"--allow-type-change",
		"sends values of another type than their key has, where a server refuses them and loses metadata",
	);
}

/** Whether documents that no row names are reported, or are a difference. */
export type UndeclaredFlag = { readonly undeclared?: "report" | "fail" | undefined };

/** Flags of commands that have a dry run. */
export type DryRunFlags = {
	readonly dryRun?: boolean | undefined;
	readonly detailedExitcode?: boolean | undefined;
	/** format of the changes; undefined for text */
	readonly format?: ChangeFormat | undefined;
	/** characters of the Markdown at most */
	readonly limitCharacters?: number | undefined;
};

/** @param without the options with which nothing is written */
export function addDryRunOptions(command: Command, without = "--dry-run"): Command {
	command
		.option("-n, --dry-run", "shows what would change, row by row, and sends nothing that writes")
		.option("--detailed-exitcode", "with --dry-run: exit 10 if anything would change");
	for (const flag of ["--detailed-exitcode", "--format", "--limit-characters"])
		addRule(command, flag, "needs", without);
	addFormatOptions(command, "with --dry-run: ");
	const hint = `--verify reads back what was written, and ${without} writes nothing.`;
	return addRule(command, "--verify sample or --verify all", "excludes", without, hint);
}

/** The same of commands that ask nothing: scripts give `-y` to each command that writes. */
export function addUnaskedOptions(command: Command, without?: string): Command {
	return addDryRunOptions(command, without).option(
		"-y, --yes",
		"for scripts that give it to every command; this one asks nothing",
	);
}

/** Fewest characters that hold the counts and the sentence of what was left out, and the most that are collected. */
const LIMIT_CHARACTERS = { least: 1_000, most: 1_000_000 };

/** @param when words before the purpose of `--format`: `with --dry-run: ` */
export function addFormatOptions(command: Command, when: string): Command {
	const uses = alternatives(Object.values(CHANGE_FORMATS).map(({ use }) => use));
	const { least, most } = LIMIT_CHARACTERS;
	addRule(command, "--format", "excludes", "--json");
	addRule(command, "--limit-characters", "needs", "--format md");
	return command
		.addOption(new Option("--format <format>", `${when}${uses}`).choices(Object.keys(CHANGE_FORMATS)))
		.option(
			"--limit-characters <n>",
			`with --format md: characters at most; a comment of GitHub has 65,536 (default: ${numberText(DEFAULT_LIMIT_CHARACTERS)})`,
			parseCount(least, most),
		);
}

/** The format of the changes that the flags choose. */
export function changeFormat({ format = "text", json }: DryRunFlags & Given<{ json: boolean }>): ChangeFormat | "json" {
	return json === true ? "json" : format;
}
