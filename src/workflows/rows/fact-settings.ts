import { reason, usageError } from "../../errors.ts";
import { FACT_NAMES, type FactText, factTextOf, parseFactText, type FileFacts } from "../../files/facts.ts";
import type { JsonValue } from "../../json/values.ts";
import type { Fault } from "../../manifest/fault.ts";
import { cellValue, splitType } from "../../manifest/rows/typed.ts";
import type { ManifestOptions, SetCell } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";

/** A `--set` whose value comes from each file. */
export type FactSetting = Pick<SetCell, "key" | "type"> & { readonly text: FactText };

/**
 * Divides the values of `--set` into those that are the same for all files, and those with facts of a file. Of two for one
 * key, the later one counts.
 *
 * @throws CliError exit 2 for a fact that does not exist
 */
export function factSettings(set: readonly string[]): {
	readonly plain: readonly string[];
	readonly facts: readonly FactSetting[];
} {
	const last = new Map<string, string | FactSetting>();
	const faulty: string[] = [];
	for (const text of set) {
		const equals = text.indexOf("=");
		const { key, type, meant } = splitType(text.slice(0, Math.max(equals, 0)));
		// `manifestOptions` refuses these in its own words. Braces of JSON are its own.
		const parsed =
			equals === -1 || key === "" || meant !== undefined || type === "json"
				? undefined
				: parseFactText(text.slice(equals + 1));
		if (equals === -1) faulty.push(text);
		else if (parsed === undefined) last.set(key, text);
		else if ("unknown" in parsed) {
			throw usageError(
				`--set: ${excerpt(parsed.unknown)} is no fact of a file; nothing was sent`,
				`Facts are ${FACT_NAMES.join(" ")}. --set KEY:json="{...}" takes braces as they are.`,
			);
		} else last.set(key, { key, type, text: parsed });
	}
	const values = [...last.values()];
	return {
		plain: [...faulty, ...values.filter((each) => typeof each === "string")],
		facts: values.filter((each) => typeof each !== "string"),
	};
}

/**
 * Sets the values of one file. An empty one is what an empty cell of a manifest is, by `--empty`.
 *
 * @returns what is wrong with them
 */
export async function setFacts(
	settings: readonly FactSetting[],
	facts: FileFacts,
	metadata: Map<string, JsonValue>,
	{ empty }: Pick<ManifestOptions, "empty">,
): Promise<Fault[]> {
	const faults: Fault[] = [];
	for (const { key, type, text } of settings) {
		try {
			const filled = await factTextOf(text, facts);
			if (filled === "" && empty === "skip") metadata.delete(key);
			else if (filled === "" && empty === "null") metadata.set(key, null);
			else {
				const result = cellValue(filled, type);
				if ("value" in result) metadata.set(key, result.value);
				else faults.push({ field: key, code: result.code, text: result.fault });
			}
		} catch (error) {
			faults.push({ field: key, code: "BAD_FILE", text: `the file can't be read: ${reason(error)}` });
		}
	}
	return faults;
}
