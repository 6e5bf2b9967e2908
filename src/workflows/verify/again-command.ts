import { dirname } from "node:path";
import { CliError } from "../../errors.ts";
import { purposeOf, PURPOSES } from "../../manifest/purposes.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { APPLY } from "../plan/open-plan.ts";
import { payloadFlags } from "../../flags/payload-options.ts";

/** The command that sends the lost writes of a run again; undefined where none is known. */
export function againCommand(file: RunFile, flags: GlobalFlags): string | undefined {
	const words = wordsOf(file);
	return words === undefined ? undefined : withFlags(["ragtag", file.command, ...words].join(" "), flags);
}

function wordsOf({ command, manifest: { path }, options }: RunFile): readonly string[] | undefined {
	// The plan alone says what is sent.
	if (command === APPLY) return [quoted(path)];
	const purpose = purposeOf(command);
	const sendAgain = purpose && PURPOSES[purpose].sendAgain;
	return sendAgain && [quoted(path), ...payloadWords(options, path), ...sendAgain];
}

/** The recorded flags that say how the manifest is read, as the user types them. Defaults are left out. */
function payloadWords(options: RunFile["options"], path: string): string[] {
	const flags = readable(options);
	const { dataset, mode, deleteToken, empty, schema, onDuplicate, filesRoot } = flags;
	const single: readonly (readonly [string, string | undefined])[] = [
		["-d", dataset],
		["--mode", mode === "replace" ? undefined : mode],
		["--delete-token", deleteToken],
		["--empty", empty === "skip" ? undefined : empty],
		["--schema", schema],
		["--on-duplicate", onDuplicate === "error" ? undefined : onDuplicate],
		["--files-root", filesRoot === dirname(path) || options["onExisting"] === undefined ? undefined : filesRoot],
		...(flags.map ?? []).map(([column, key]) => ["--map", `${column}=${key}`] as const),
		...(flags.ignore ?? []).map((column) => ["--ignore", column] as const),
		...(flags.set ?? []).map((setting) => ["--set", setting] as const),
	];
	const words = single.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
	return flags.skipInvalid === true ? [...words, "--skip-invalid"] : words;
}

/** The recorded flags; none if the record is damaged. Commands that use the record report that. */
function readable(options: RunFile["options"]): ReturnType<typeof payloadFlags> {
	try {
		return payloadFlags(options);
	} catch (error) {
		if (error instanceof CliError) return {};
		throw error;
	}
}
