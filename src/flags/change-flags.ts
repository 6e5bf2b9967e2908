import { type Command, Option } from "commander";
import { CliError, Exit } from "../errors.ts";
import type { Metadata } from "../json/values.ts";
import { DELETE_TOKEN } from "../json/list-change.ts";
import { changeOf, keepsValue, metadataToSend, type Mode } from "../plan/change.ts";
import type { UpdatePlan } from "../run/operations/look.ts";
import { parseNonEmpty } from "./values.ts";

/** Flags that say what a row does to its document. */
export type ChangeFlags = { readonly mode: Mode; readonly deleteToken?: string };

export function addChangeOptions(command: Command): Command {
	return command
		.addOption(
			new Option("--mode <mode>", "replace sends the row's metadata as it stands; merge lays it over what is there")
				.choices(["replace", "merge"])
				.default("replace"),
		)
		.option(
			"--delete-token <text>",
			`with --mode merge: a value of this text removes its key; else it is refused (default: ${DELETE_TOKEN})`,
			parseNonEmpty,
		);
}

/** @throws CliError exit 2 for flags that mean nothing without others */
export function checkChangeFlags({ mode, deleteToken }: ChangeFlags): void {
	// Another token says that the usual one, and lists that look like a change, are meant to the letter.
	if (mode !== "replace" || deleteToken !== DELETE_TOKEN) return;
	throw new CliError("--delete-token removes keys in a merge alone, and this is --mode replace; nothing was sent", {
		exit: Exit.usage,
		hint: "Add --mode merge, or leave --delete-token out: a replace run removes every key that a row does not carry.",
	});
}

/** How rows become what is sent. */
export function updatePlanOf({ mode, deleteToken }: ChangeFlags): Omit<UpdatePlan, "present"> {
	const change = changeOf(mode, deleteToken);
	return {
		metadataToSend: (present: Metadata, wanted: Metadata) => metadataToSend(change, present, wanted),
		keepsPresent: mode === "merge",
		keepsValue: (key: string, wanted: Metadata) => keepsValue(change, key, wanted),
	};
}
