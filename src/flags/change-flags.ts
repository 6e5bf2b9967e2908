import { type Command, Option } from "commander";
import { CliError, Exit } from "../errors.ts";
import type { Metadata } from "../json/values.ts";
import { DELETE_TOKEN } from "../json/list-change.ts";
import { changeOf, keepsValue, metadataToSend, type Mode } from "../plan/change.ts";
import type { UpdatePlan } from "../run/operations/prepare-update.ts";
import { parseNonEmpty } from "./values.ts";
import { type ChangeFormat, CHANGE_FORMATS } from "../report/changes.ts";
import { alternatives } from "../text/words.ts";
import type { RunFlags } from "./flags.ts";

/** Flags for how a row changes its document. */
export type ChangeFlags = { readonly mode: Mode; readonly deleteToken?: string };

export function addChangeOptions(command: Command): Command {
	return command
		.addOption(
			new Option("--mode <mode>", "replace sends the row's metadata as it is; merge adds it to what the document has")
				.choices(["replace", "merge"])
				.default("replace"),
		)
		.option(
			"--delete-token <text>",
			`with --mode merge: a value of this text removes its key (default: ${DELETE_TOKEN})`,
			parseNonEmpty,
		);
}

/** @throws CliError exit 2 for flags that mean nothing without others */
export function checkChangeFlags({ mode, deleteToken }: ChangeFlags): void {
	// With another token, the usual one and lists that look like a change are plain values.
	if (mode !== "replace" || deleteToken !== DELETE_TOKEN) return;
	throw new CliError("--delete-token needs --mode merge; nothing was sent", {
		exit: Exit.usage,
		hint: "Add --mode merge, or leave --delete-token out: a replace run removes every key that a row does not have.",
	});
}

/** How the metadata to send is made from a row. */
export function updatePlanOf({ mode, deleteToken }: ChangeFlags): Omit<UpdatePlan, "documents"> {
	const change = changeOf(mode, deleteToken);
	return {
		metadataToSend: (present: Metadata, wanted: Metadata) => metadataToSend(change, present, wanted),
		keepsPresent: mode === "merge",
		keepsValue: (key: string, wanted: Metadata) => keepsValue(change, key, wanted),
	};
}

/** Flags of commands that have a dry run. */
export type DryRunFlags = {
	readonly dryRun?: boolean;
	readonly detailedExitcode?: boolean;
	/** format of the changes; undefined for text */
	readonly format?: ChangeFormat;
};

export function addDryRunOptions(command: Command): Command {
	const uses = alternatives(Object.values(CHANGE_FORMATS).map(({ use }) => use));
	return command
		.option("--dry-run", "shows what would change, row by row, and sends nothing that writes")
		.option("--detailed-exitcode", "with --dry-run: exit 10 if anything would change")
		.addOption(new Option("--format <format>", `with --dry-run: ${uses}`).choices(Object.keys(CHANGE_FORMATS)));
}

/** @throws CliError exit 2 for flags that mean nothing without others */
export function checkDryRunFlags({
	dryRun,
	detailedExitcode,
	format,
	json,
	verify = "none",
}: DryRunFlags & { readonly json?: boolean; readonly verify?: RunFlags["verify"] }): void {
	const wrong = (text: string, hint: string): CliError =>
		new CliError(`${text}; nothing was sent`, { exit: Exit.usage, hint });
	if (dryRun !== true && (detailedExitcode === true || format !== undefined)) {
		const flag = format === undefined ? "--detailed-exitcode" : "--format";
		throw wrong(`${flag} needs --dry-run`, `Add --dry-run, or leave ${flag} out.`);
	}
	if (dryRun === true && verify !== "none") {
		throw wrong("--verify reads back what was written, and --dry-run writes nothing", "Leave one of them out.");
	}
	if (format !== undefined && json === true) throw wrong("--format and --json exclude each other", "Use one of them.");
}

/** The format of the changes that the flags choose. */
export function changeFormat({
	format = "text",
	json,
}: DryRunFlags & { readonly json?: boolean }): ChangeFormat | "json" {
	return json === true ? "json" : format;
}
