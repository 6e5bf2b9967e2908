import type { _ as Code, Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { type CliError, errorCode, reason, usageError } from "../../errors.ts";
import { isJsonObject, type JsonValue } from "../../json/values.ts";
import { MANIFEST_JSON, MAX_COMPILE_SECONDS, MAX_SCHEMA } from "../limits.ts";
import { valueText } from "./identity.ts";
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

export type Validator = {
	/** the ways in which a value does not meet the schema */
	check(value: object): readonly ErrorObject[];
	/** the pattern that was being tried when the last check was stopped; undefined if it was not stopped */
	pattern(): string | undefined;
};

/**
 * Makes a function of a schema. ajv is loaded when it is asked for: most manifests have no schema, and it is slow to load.
 *
 * @throws CliError exit 2 where the schema is wrong or too large
 */
export async function compile(schema: JsonValue, limit: TimeLimit): Promise<Validator> {
	if (typeof schema !== "boolean" && !isJsonObject(schema)) {
		throw unusable("a JSON Schema is an object, true or false");
	}
	const named = isJsonObject(schema) ? schema["$schema"] : undefined;
	const dialect = typeof named === "string" ? named : "";
	const state: { running: string | undefined } = { running: undefined };
	/** Notes the pattern that is being tried, so that the one that takes too long is known. */
	const watched = (source: string, flags: string) => {
		const pattern = new RegExp(source, flags);
		return {
			test(text: string): boolean {
				state.running = source;
				const isMet = pattern.test(text);
				state.running = undefined;
				return isMet;
			},
			// ajv compares patterns by this text.
			toString: () => String(pattern),
		};
	};
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
		code: { regExp: Object.assign(watched, { code: "new RegExp" }) },
	} as const;
	let validate: ValidateFunction | undefined;
	try {
		const { Ajv, Ajv2020, code, formats } = await import("./ajv.ts");
		const isDone = limit.isEnough(MAX_COMPILE_SECONDS * 1000, () => {
			const ajv = dialect.includes("draft-07") ? new Ajv(options) : new Ajv2020(options);
			formats(ajv);
			compareByText(ajv, code);
			validate = ajv.compile(structuredClone(schema));
		});
		if (isDone && validate !== undefined) return validator(validate, state);
	} catch (error) {
		throw error instanceof RangeError ? endless() : unusable(reason(error));
	}
	throw unusable(`it takes more than ${MAX_COMPILE_SECONDS} s to prepare`, "Give a schema with fewer keywords.");
}

function validator(validate: ValidateFunction, state: { running: string | undefined }): Validator {
	return {
		check(value) {
			state.running = undefined;
			return validate(value) === true ? [] : (validate.errors ?? []);
		},
		pattern: () => state.running,
	};
}

/**
 * Compares values by their canonical text. ajv asks an object for its `valueOf` and `constructor`, which may be members of
 * a row, and compares each item of a list with every other.
 */
function compareByText(ajv: Ajv | Ajv2020, code: typeof Code): void {
	for (const keyword of ["const", "enum", "uniqueItems"]) ajv.removeKeyword(keyword);
	ajv.addKeyword({
		keyword: "const",
		compile: (value: JsonValue) => {
			const wanted = valueText(value);
			return (data: JsonValue) => valueText(data) === wanted;
		},
		error: { message: "must be equal to constant", params: ({ schemaCode }) => code`{allowedValue: ${schemaCode}}` },
	});
	ajv.addKeyword({
		keyword: "enum",
		schemaType: "array",
		compile: (values: readonly JsonValue[]) => {
			const allowed = new Set(values.map(valueText));
			return (data: JsonValue) => allowed.has(valueText(data));
		},
		error: {
			message: "must be equal to one of the allowed values",
			params: ({ schemaCode }) => code`{allowedValues: ${schemaCode}}`,
		},
	});
	ajv.addKeyword({
		keyword: "uniqueItems",
		type: "array",
		schemaType: "boolean",
		compile: (isAsked: boolean) => (items: readonly JsonValue[]) =>
			!isAsked || new Set(items.map(valueText)).size === items.length,
		error: { message: "must NOT have duplicate items" },
	});
}

export function unusable(
	why: string,
	hint = "JSON Schema 2020-12 is read, and draft-07 where $schema says so",
): CliError {
	return usageError(`the schema cannot be used: ${why}`, hint);
}

/** For a schema that overflows the stack. Its own nesting is bounded, so a `$ref` of it leads back to itself. */
export function endless(): CliError {
	return unusable(
		"a $ref in it leads back to itself for ever",
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

	/** Whether the work ended within so many milliseconds. An error that it throws is thrown. */
	isEnough(milliseconds: number, work: () => void): boolean {
		this.#context["work"] = work;
		try {
			this.#script.runInContext(this.#context, { timeout: milliseconds });
			return true;
		} catch (error) {
			if (errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
			throw error;
		} finally {
			this.#context["work"] = undefined;
		}
	}
}
