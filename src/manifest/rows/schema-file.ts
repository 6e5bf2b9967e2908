import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { readInput } from "../../input-file.ts";
import type { JsonValue } from "../../json/values.ts";
import { JsonFault } from "../../json/rules.ts";
import { parseValue } from "../../json/parser.ts";
import { MANIFEST_JSON, MAX_SCHEMA } from "../limits.ts";
import { positionIn } from "../position.ts";
import { excerpt } from "../../text/show.ts";

/**
 * The value of `--schema`: the JSON of the file, or `none`.
 *
 * @throws CliError exit 2
 */
export async function readSchema(path: string): Promise<JsonValue> {
	if (path === "none") return "none";
	let text: string;
	try {
		text = (await readInput(path, MAX_SCHEMA)).toString("utf8");
	} catch (error) {
		const why = errorCode(error) === "ENOENT" ? "does not exist" : `cannot be read: ${reason(error)}`;
		throw new CliError(`the schema ${excerpt(path)} ${why}`, {
			exit: Exit.usage,
			hint: "Check the path given to --schema.",
		});
	}
	try {
		return parseValue(text.replace(/^\uFEFF/, ""), MANIFEST_JSON);
	} catch (error) {
		if (!(error instanceof JsonFault)) throw error;
		const { line, column } = positionIn(text, error.offset, 1);
		throw unusable(`${excerpt(path)}:${line}:${column}: ${error.message}`);
	}
}

export function unusable(
	why: string,
	hint = "JSON Schema 2020-12 is read, and draft-07 where $schema says so",
): CliError {
	return new CliError(`the schema cannot be used: ${why}`, { exit: Exit.usage, hint });
}

/** A schema that the stack has no room for. Its own nesting is bounded, so it goes round in a circle. */
export function endless(): CliError {
	return unusable(
		"a $ref in it leads back to itself for ever",
		"Let a $ref that repeats refer to a part of the value.",
	);
}
