import { type CliError, usageError } from "../errors.ts";
import type { JsonValue } from "../json/values.ts";
import { faultText } from "./fault.ts";
import { brokenChangeFault, mergeOnlyFault } from "./rows/values.ts";
import { emptyRow } from "./rows/row-reader.ts";
import { cellValue, splitType } from "./rows/typed.ts";
import { rowValidator } from "./rows/validator.ts";
import { excerpt } from "../text/show.ts";
import type { ManifestOptions, SetCell } from "./types.ts";

/** A value of `--set`, and the text it was made of. */
type Setting = SetCell & { readonly value: JsonValue };

/**
 * The key and value of `--set KEY[:type]=VALUE`; the types are those of a CSV header. A token that removes a key is of any
 * type, as in a manifest.
 *
 * @throws CliError exit 2, also for a value that a manifest may not have in this mode
 */
export function parseSetOption(
	text: string,
	options: Pick<ManifestOptions, "mergeOnly" | "deleteToken"> = {},
): Setting {
	const { mergeOnly, deleteToken } = options;
	const token = mergeOnly?.token ?? deleteToken;
	const equals = text.indexOf("=");
	const { key, type, meant } = splitType(text.slice(0, Math.max(equals, 0)));
	if (equals === -1 || key === "") throw wrong(`"${excerpt(text)}" is not KEY=VALUE`);
	if (meant !== undefined) throw wrong(`"${excerpt(key)}" ends in an unknown type; did you mean :${meant}?`);
	const cell = text.slice(equals + 1);
	const result = cell === token ? { value: cell } : cellValue(cell, type);
	if (!("value" in result)) throw wrong(`${excerpt(key)}: ${result.fault}`);
	const { value } = result;
	const misplaced = type === "json" && cell !== token ? undefined : mergeOnlyFault(key, value, mergeOnly);
	if (misplaced !== undefined) throw wrong(`${excerpt(key)}: ${misplaced.text}`, "Add --mode merge if you mean that.");
	const broken = brokenChangeFault(key, value, options, type === "json");
	if (broken !== undefined) throw wrong(`${excerpt(key)}: ${broken.text}`, "Fix the list; nothing was sent.");
	return { key, type, cell, value };
}

/**
 * Checks the values of `--set` once, for commands whose rows have no metadata of their own.
 *
 * @throws CliError exit 2 that names all faults
 */
export async function checkSetOptions(options: ManifestOptions): Promise<void> {
	const validator = await rowValidator("", options);
	const row = emptyRow();
	const faults = validator.faults(row, true);
	validator.addSchemaFaults([row], () => "--set");
	if (faults.length === 0) return;
	throw wrong(
		`${faults.map(faultText).join("; ")}; nothing was sent`,
		"Fix the value; --schema says what values are allowed.",
	);
}

function wrong(
	why: string,
	hint = "write --set KEY=VALUE, or KEY:number=, KEY:boolean=, KEY:list=a|b, KEY:json= for other than text",
): CliError {
	return usageError(`--set: ${why}`, hint);
}
