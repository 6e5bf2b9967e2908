import { type Command, Option } from "commander";
import { CliError, Exit } from "../errors.ts";
import { CHANGE_FORMATS, type ChangeFormat } from "../report/changes.ts";
import { alternatives } from "../text/words.ts";
import type { RunFlags } from "./flags.ts";

/** Flags of commands that can show what they would do. */
export type DryRunFlags = {
	readonly dryRun?: boolean;
	readonly detailedExitcode?: boolean;
	/** how changes are shown */
	readonly format?: ChangeFormat;
};

export function addDryRunOptions(command: Command): Command {
	const uses = alternatives(Object.values(CHANGE_FORMATS).map(({ use }) => use));
	return command
		.option("--dry-run", "shows what would change, row by row, and sends nothing that writes")
		.option("--detailed-exitcode", "with --dry-run: exit 10 when something would change")
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
		throw wrong(`${flag} is about what --dry-run shows`, `Add --dry-run, or leave ${flag} out.`);
	}
	if (dryRun === true && verify !== "none") {
		throw wrong("--verify reads back what was written, and --dry-run writes nothing", "Leave one of them out.");
	}
	if (format !== undefined && json === true) throw wrong("--format and --json exclude each other", "Say one of them.");
}

/** How the changes are shown that the flags ask for. */
export function faceOf({ format = "text", json }: DryRunFlags & { readonly json?: boolean }): ChangeFormat | "json" {
	return json === true ? "json" : format;
}
