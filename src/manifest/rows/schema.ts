import type { ErrorObject, ValidateFunction } from "ajv";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { readInput } from "../../input-file.ts";
import { isJsonObject, type JsonValue, type Metadata } from "../../json.ts";
import { listSteps } from "../../list-change.ts";
import type { Fault } from "../fault.ts";
import { JsonFault } from "../json/fault.ts";
import { parseJson } from "../json/parse.ts";
import { positionIn } from "../position.ts";
import { show } from "../show.ts";
import type { ManifestOptions } from "../types.ts";

/** 16 MiB: far more than a schema that a person or a program writes. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The value of `--schema`: the JSON of the file, or `none`.
 *
 * @throws CliError exit 2
 */
export async function readSchema(path: string): Promise<JsonValue> {
	if (path === "none") return "none";
	let text: string;
	try {
		text = (await readInput(path, MOST_BYTES)).toString("utf8");
	} catch (error) {
		const why = errorCode(error) === "ENOENT" ? "does not exist" : `cannot be read: ${reason(error)}`;
		throw new CliError(`the schema ${show(path)} ${why}`, {
			exit: Exit.usage,
			hint: "check the path given to --schema",
		});
	}
	try {
		return parseJson(text.replace(/^\uFEFF/, ""));
	} catch (error) {
		if (!(error instanceof JsonFault)) throw error;
		const { line, column } = positionIn(text, error.offset, 1);
		throw unusable(`${show(path)}:${line}:${column}: ${error.message}`);
	}
}

/** Finds what of a row's metadata does not meet the schema. */
export type SchemaCheck = (metadata: Metadata, deleteToken: string | undefined) => Fault[];

/** @throws CliError exit 2 when the schema itself is wrong */
export async function schemaCheck(schema: ManifestOptions["schema"]): Promise<SchemaCheck | undefined> {
	if (schema === undefined || schema === "none") return undefined;
	const validate = await compile(schema);
	return (metadata, deleteToken) => {
		if (validate(plainObject(metadata, deleteToken)) === true) return [];
		return (validate.errors ?? []).map(faultOf);
	};
}

/** Loaded when asked for: most manifests have no schema, and ajv is slow to load. */
async function compile(schema: JsonValue): Promise<ValidateFunction> {
	if (typeof schema !== "boolean" && !isJsonObject(schema)) {
		throw unusable("a JSON Schema is an object, true or false");
	}
	const named = isJsonObject(schema) ? schema["$schema"] : undefined;
	const dialect = typeof named === "string" ? named : "";
	// An unknown keyword is probably a misspelt one, and would let every row pass. The types stay loose on purpose.
	const options = {
		allErrors: true,
		strict: true,
		strictTypes: false,
		strictRequired: false,
		strictTuples: false,
		logger: false,
	} as const;
	try {
		const { Ajv, Ajv2020, formats } = await import("./ajv.ts");
		const ajv = dialect.includes("draft-07") ? new Ajv(options) : new Ajv2020(options);
		formats(ajv);
		return ajv.compile(structuredClone(schema));
	} catch (error) {
		throw unusable(reason(error));
	}
}

function unusable(why: string): CliError {
	return new CliError(`the schema cannot be used: ${why}`, {
		exit: Exit.usage,
		hint: "JSON Schema 2020-12 is read, and draft-07 where $schema says so",
	});
}

/**
 * Metadata as ajv wants it. In a merge, a key that is to be removed is no value, and of a change of a list the items that it
 * adds are what is known of the list.
 */
function plainObject(metadata: Metadata, deleteToken: string | undefined): object {
	const object: object = {};
	for (const [key, given] of metadata) {
		if (deleteToken !== undefined && given === deleteToken) continue;
		const steps = deleteToken === undefined ? undefined : listSteps(given);
		const value = steps === undefined ? given : steps.filter(({ adds }) => adds).map(({ item }) => item);
		Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
	}
	return object;
}

function faultOf({ instancePath, params, message = "does not meet the schema" }: ErrorObject): Fault {
	const [, top] = instancePath.split("/");
	if (top !== undefined) {
		const [field, inside] = [unescapePointer(top), instancePath.slice(top.length + 1)];
		const text = show(`${inside === "" ? "" : `${inside} `}${message}`);
		return { field, code: "SCHEMA", text, ofValue: field };
	}
	const surplus: unknown = params["additionalProperty"] ?? params["unevaluatedProperty"];
	const field: unknown = params["missingProperty"] ?? surplus;
	return {
		field: typeof field === "string" ? field : null,
		code: "SCHEMA",
		text: show(message),
		...(typeof surplus === "string" ? { ofValue: surplus } : {}),
	};
}

function unescapePointer(part: string): string {
	return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
