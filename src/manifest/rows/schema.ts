import type { ValidateFunction } from "ajv";
import { type CliError, errorCode, reason, usageError } from "../../errors.ts";
import { isJsonObject, type JsonValue } from "../../json/values.ts";
import { MANIFEST_JSON, MAX_COMPILE_SECONDS, MAX_SCHEMA } from "../limits.ts";
import { createContext, Script } from "node:vm";
import { readInput } from "../../input-file.ts";
import { parseValue } from "../../json/parser.ts";
import { JsonFault } from "../../json/lexer.ts";
import { excerpt } from "../../text/show.ts";
import { positionIn } from "../fault.ts";

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
		throw usageError(`the schema ${excerpt(path)} ${why}`, "Check the path given to --schema.");
	}
	try {
		return parseValue(text.replace(/^\uFEFF/, ""), MANIFEST_JSON);
	} catch (error) {
		if (!(error instanceof JsonFault)) throw error;
		const { line, column } = positionIn(text, error.offset, 1);
		throw unusable(`${excerpt(path)}:${line}:${column}: ${error.message}`);
	}
}

/**
 * Makes a function of a schema. ajv is loaded when it is asked for: most manifests have no schema, and it is slow to load.
 *
 * @throws CliError exit 2 where the schema is wrong or too large
 */
export async function compile(schema: JsonValue, limit: TimeLimit): Promise<ValidateFunction> {
	if (typeof schema !== "boolean" && !isJsonObject(schema)) {
		throw unusable("a JSON Schema is an object, true or false");
	}
	const dialect = isJsonObject(schema) ? schema["$schema"] : undefined;
	const isOld = typeof dialect === "string" && dialect.includes("draft-07");
	// An unknown keyword is probably a misspelt one, and would let every row pass. The types stay loose on purpose.
	const options = {
		allErrors: true,
		strict: true,
		strictTypes: false,
		strictRequired: false,
		strictTuples: false,
		logger: false,
		// Inherited members are no members of a row: `required: ["toString"]` must fail.
		ownProperties: true,
	} as const;
	let validate: ValidateFunction | undefined;
	try {
		const { Ajv, Ajv2020, formats } = await import("./ajv.ts");
		const isDone = limit.isEnough(MAX_COMPILE_SECONDS, () => {
			const ajv = isOld ? new Ajv(options) : new Ajv2020(options);
			formats(ajv);
			validate = ajv.compile(structuredClone(schema));
		});
		if (isDone && validate !== undefined) return validate;
	} catch (error) {
		throw error instanceof RangeError ? endless() : unusable(reason(error));
	}
	throw unusable(`it takes more than ${MAX_COMPILE_SECONDS} s to prepare`, "Give a schema with fewer keywords.");
}

export function unusable(
	why: string,
	hint = "JSON Schema 2020-12 is read, and draft-07 where $schema says so",
): CliError {
	return usageError(`the schema cannot be used: ${why}`, hint);
}

/** For a schema that overflows the stack. Its own nesting is bounded. */
export function endless(): CliError {
	return unusable(
		"a $ref in it leads back to itself for ever, or a pattern has too much to try",
		"Let a $ref that repeats refer to a part of the value.",
	);
}

/**
 * Runs work that may not end, such as a pattern with nested repetitions. It blocks the event loop, so no timer can end it.
 * The time limit of node:vm can, and costs a tenth of a millisecond.
 */
export class TimeLimit {
	readonly #context = createContext({ work: undefined });
	readonly #script = new Script("work()");

	/** Whether the work ended within so many seconds. An error that it throws is thrown. */
	isEnough(seconds: number, work: () => void): boolean {
		this.#context["work"] = work;
		try {
			this.#script.runInContext(this.#context, { timeout: seconds * 1000 });
			return true;
		} catch (error) {
			if (errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
			throw error;
		} finally {
			this.#context["work"] = undefined;
		}
	}
}
