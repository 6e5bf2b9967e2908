import { CliError, Exit } from "../errors.ts";
import type { JsonValue } from "../json/values.ts";
import { brokenChangeFault, mergeOnlyFault } from "./rows/values.ts";
import { cellValue, splitType } from "./rows/typed.ts";
import { RowValidator } from "./rows/validator.ts";
import { excerpt } from "../text/show.ts";
import type { ManifestOptions } from "./types.ts";

/**
 * The key and value of `--set KEY[:type]=VALUE`; the types are those of a CSV header.
 *
 * @param options what is refused, as in a manifest
 * @throws CliError exit 2
 */
export function parseSetOption(
	text: string,
	options: Pick<ManifestOptions, "mergeOnly" | "deleteToken"> = {},
): readonly [key: string, value: JsonValue] {
	const { mergeOnly, deleteToken } = options;
	const equals = text.indexOf("=");
	const { key, type, meant } = splitType(text.slice(0, Math.max(equals, 0)));
	if (equals === -1 || key === "") throw wrong(`"${excerpt(text)}" is not KEY=VALUE`);
	if (meant !== undefined) throw wrong(`"${excerpt(key)}" ends in an unknown type; did you mean :${meant}?`);
	const cell = text.slice(equals + 1);
	// As in a manifest, the token removes a key of any type.
	const isToken = cell === (mergeOnly?.token ?? deleteToken);
	const result = isToken ? { value: cell } : cellValue(cell, type);
	if (!("value" in result)) throw wrong(`${excerpt(key)}: ${result.fault}`);
	const misplaced = type === "json" && !isToken ? undefined : mergeOnlyFault(key, result.value, mergeOnly);
	if (misplaced !== undefined) throw wrong(`${excerpt(key)}: ${misplaced.text}`, "Add --mode merge if you mean that.");
	const broken = brokenChangeFault(key, result.value, options, type === "json");
	if (broken !== undefined) throw wrong(`${excerpt(key)}: ${broken.text}`, "Fix the list; nothing was sent.");
	return [key, result.value];
}

/**
 * Checks the values of `--set` once, for commands whose rows have no metadata of their own.
 *
 * @throws CliError exit 2 that names all faults
 */
export async function checkSetOptions(options: ManifestOptions): Promise<void> {
	const validator = await RowValidator.create("", options);
	const faults = await validator.setOptionFaults();
	if (faults.length === 0) return;
	const texts = faults.map(({ field, text }) => (field === null ? text : `${excerpt(field)}: ${text}`));
	throw wrong(`${texts.join("; ")}; nothing was sent`, "Fix the value; --schema says what values are allowed.");
}

function wrong(
	why: string,
	hint = "write --set KEY=VALUE, or KEY:number=, KEY:boolean=, KEY:list=a|b, KEY:json= for other than text",
): CliError {
	return new CliError(`--set: ${why}`, { exit: Exit.usage, hint });
}
