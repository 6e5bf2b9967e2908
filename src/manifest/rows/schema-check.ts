import type { ErrorObject } from "ajv";
import { setImmediate } from "node:timers/promises";
import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "../../json/values.ts";
import { listSteps } from "../../json/list-change.ts";
import { reason } from "../../errors.ts";
import type { Fault } from "../fault.ts";
import { MAX_ROW_FAULTS, MAX_ROW_SECONDS } from "../limits.ts";
import { excerpt } from "../../text/show.ts";
import type { ManifestOptions } from "../types.ts";
import { endless, unusable, compile, type Validator, TimeLimit } from "./schema.ts";

/** Milliseconds for many rows at once. Nothing else is done meanwhile, not even a signal is heard. */
const TURN = 250;

/** Tries of a row by itself: the machine may have slept meanwhile, or had other things to do. */
const TRIES = 2;

/** A row's metadata, and its name in messages. */
export type SchemaRow = { readonly metadata: Metadata; readonly place: string };

type SchemaOptions = Pick<ManifestOptions, "schema" | "schemaName" | "deleteToken">;

/** Finds the faults of rows' metadata by a schema. */
export class SchemaCheck {
	readonly #limit: TimeLimit;
	readonly #validator: Validator;
	readonly #options: SchemaOptions;

	private constructor(limit: TimeLimit, validator: Validator, options: SchemaOptions) {
		this.#limit = limit;
		this.#validator = validator;
		this.#options = options;
	}

	/** @throws CliError exit 2 when the schema itself is wrong */
	static async of(options: SchemaOptions): Promise<SchemaCheck | undefined> {
		const { schema } = options;
		if (schema === undefined || schema === "none") return undefined;
		const limit = new TimeLimit();
		const check = new SchemaCheck(limit, await compile(schema, limit), options);
		// A schema that only refers to itself is noticed before any row is read.
		await check.faults([{ metadata: new Map(), place: "a row without metadata" }], undefined);
		return check;
	}

	/**
	 * The faults of each row. Rows are checked in batches, whose length suits both speed and signals.
	 *
	 * @throws CliError exit 2 where a row takes longer than any ordinary schema
	 */
	async faults(rows: readonly SchemaRow[], signal: AbortSignal | undefined): Promise<readonly (readonly Fault[])[]> {
		const found: (readonly Fault[])[] = [];
		const next = ({ metadata, place }: SchemaRow): void => {
			found.push(this.#faultsOf(metadata, place));
		};
		while (found.length < rows.length) {
			if (this.#limit.isEnough(TURN, () => rows.slice(found.length).forEach(next))) break;
			const slow = rows[found.length];
			for (let tries = 1; slow !== undefined; tries++) {
				await setImmediate();
				signal?.throwIfAborted();
				if (this.#limit.isEnough(MAX_ROW_SECONDS * 1000, () => next(slow))) break;
				if (tries === TRIES) throw this.#tooSlow(slow.place);
			}
		}
		return found;
	}

	#faultsOf(metadata: Metadata, place: string): readonly Fault[] {
		try {
			const errors = this.#validator.check(plainObject(metadata, this.#options.deleteToken));
			return errors.slice(0, MAX_ROW_FAULTS).map((error) => faultOf(error, this.#options));
		} catch (error) {
			throw this.#failed(error, place);
		}
	}

	#tooSlow(place: string): Error {
		const pattern = this.#validator.pattern();
		const limit = `more than ${MAX_ROW_SECONDS} s`;
		if (pattern === undefined) {
			const hint = "A $ref that is followed again and again takes that long: make the schema simpler.";
			return unusable(`it takes ${limit} to check ${place}`, hint);
		}
		const hint = "A repetition inside a repetition, as in (a+)+, takes that long; a+ matches the same.";
		return unusable(`its pattern "${excerpt(pattern)}" takes ${limit} on ${place}`, hint);
	}

	#failed(error: unknown, place: string): unknown {
		const pattern = this.#validator.pattern();
		if (pattern !== undefined) return unusable(`its pattern "${excerpt(pattern)}" fails on ${place}: ${reason(error)}`);
		if (!(error instanceof RangeError)) return error;
		return endless();
	}
}

/**
 * Metadata in the form for ajv. In a merge, a removed key has no value, and a change of a list counts as a list of the
 * items that it adds.
 */
function plainObject(metadata: Metadata, deleteToken: string | undefined): object {
	const object: Record<string, JsonValue> = { __proto__: null };
	for (const [key, given] of metadata) {
		if (deleteToken !== undefined && given === deleteToken) continue;
		const steps = deleteToken === undefined ? undefined : listSteps(given);
		object[key] = steps === undefined ? given : steps.filter(({ adds }) => adds).map(({ item }) => item);
	}
	return object;
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
