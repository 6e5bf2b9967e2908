import type { ErrorObject } from "ajv";
import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "../../json/values.ts";
import { listSteps } from "../../json/list-change.ts";
import { reason } from "../../errors.ts";
import type { Fault } from "../fault.ts";
import { MAX_CHECK_SECONDS, MAX_ROW_FAULTS } from "../limits.ts";
import { excerpt } from "../../text/show.ts";
import type { ManifestOptions } from "../types.ts";
import { endless, unusable, compile, TimeLimit } from "./schema.ts";

type SchemaOptions = Pick<ManifestOptions, "schema" | "schemaName" | "deleteToken">;

/**
 * The faults of each row by a schema, of some hundred rows at a time.
 *
 * @param placeOf the name of a row in messages
 * @throws CliError exit 2 where a row takes longer than any ordinary schema
 */
type SchemaFaults = (rows: readonly Metadata[], placeOf: (row: number) => string) => readonly (readonly Fault[])[];

/** A function that finds the faults; undefined where no schema is given. @throws CliError exit 2 when the schema itself is wrong */
export async function schemaFaults(options: SchemaOptions): Promise<SchemaFaults | undefined> {
	const { schema, deleteToken } = options;
	if (schema === undefined || schema === "none") return undefined;
	const limit = new TimeLimit();
	const validate = await compile(schema, limit);
	const faultsOf = (metadata: Metadata): readonly Fault[] => {
		if (validate(plainObject(metadata, deleteToken))) return [];
		return (validate.errors ?? []).slice(0, MAX_ROW_FAULTS).map((error) => faultOf(error, options));
	};
	const faults: SchemaFaults = (rows, placeOf) => {
		const found: (readonly Fault[])[] = [];
		const check = (): void => {
			while (found.length < rows.length) found.push(faultsOf(rows[found.length] ?? new Map()));
		};
		try {
			// Once more, because the machine may have slept meanwhile.
			if (limit.isEnough(MAX_CHECK_SECONDS, check) || limit.isEnough(MAX_CHECK_SECONDS, check)) return found;
		} catch (error) {
			throw error instanceof RangeError
				? endless()
				: unusable(`it fails on ${placeOf(found.length)}: ${reason(error)}`);
		}
		const hint =
			"A repetition inside a repetition in a pattern takes that long, as in (a+)+, and a $ref that is followed again and again.";
		throw unusable(`it takes more than ${MAX_CHECK_SECONDS} s to check ${placeOf(found.length)}`, hint);
	};
	// A schema that only refers to itself is noticed before any row is read.
	faults([new Map()], () => "a row without metadata");
	return faults;
}

/**
 * Metadata in the form for ajv. In a merge, a removed key has no value, and a change of a list counts as a list of the
 * items that it adds.
 */
function plainObject(metadata: Metadata, deleteToken: string | undefined): object {
	if (deleteToken === undefined) return Object.fromEntries(metadata);
	const given = Array.from(metadata).filter(([, value]) => value !== deleteToken);
	return Object.fromEntries(
		given.map(([key, value]) => {
			const steps = listSteps(value);
			return [key, steps === undefined ? value : steps.filter(({ adds }) => adds).map(({ item }) => item)];
		}),
	);
}

function faultOf(error: ErrorObject, options: SchemaOptions): Fault {
	const { instancePath, params } = error;
	const message = messageOf(error, options);
	const [, top] = instancePath.split("/");
	if (top !== undefined) {
		const [field, inside] = [unescapePointer(top), instancePath.slice(top.length + 1)];
		const text = excerpt(`${inside === "" ? "" : `${inside} `}${message}`);
		return { field, code: "SCHEMA", text, ofValue: field };
	}
	const surplus: unknown = params["additionalProperty"] ?? params["unevaluatedProperty"];
	const field: unknown = params["missingProperty"] ?? surplus;
	return {
		field: typeof field === "string" ? field : null,
		code: "SCHEMA",
		text: excerpt(message),
		...(typeof surplus === "string" ? { ofValue: surplus } : {}),
	};
}

/** Allowed values that a message names. */
const MOST_NAMED = 10;

/** The rule of the schema in the words of a manifest: ajv speaks of properties, and leaves out the allowed values. */
function messageOf(error: ErrorObject, { schema, schemaName }: SchemaOptions): string {
	const { keyword, params, message = "does not meet the schema", instancePath } = error;
	if (keyword === "required" || keyword === "dependentRequired") {
		const values = instancePath === "" ? valuesOf(schema, params["missingProperty"]) : undefined;
		const allowed = values === undefined ? "" : `; it ${allowedText(values)}`;
		return `is missing, and the schema${schemaName === undefined ? "" : ` ${schemaName}`} requires it${allowed}`;
	}
	const allowed: unknown = params["allowedValues"] ?? (keyword === "const" ? [params["allowedValue"]] : undefined);
	return Array.isArray(allowed) ? allowedText(allowed) : message;
}

/** The values that the schema allows for a key; undefined where it has no list of them. */
function valuesOf(schema: SchemaOptions["schema"], key: unknown): readonly JsonValue[] | undefined {
	const properties = isJsonObject(schema) ? schema["properties"] : undefined;
	if (!isJsonObject(properties) || typeof key !== "string" || !Object.hasOwn(properties, key)) return undefined;
	const rule = properties[key];
	const values = isJsonObject(rule) ? rule["enum"] : undefined;
	return isJsonArray(values) ? values : undefined;
}

function allowedText(allowed: readonly unknown[]): string {
	const values = allowed.slice(0, MOST_NAMED).map((value) => JSON.stringify(value));
	return `must be ${values.length === 1 ? "" : "one of "}${values.join(", ")}${allowed.length > MOST_NAMED ? ", …" : ""}`;
}

function unescapePointer(part: string): string {
	return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
