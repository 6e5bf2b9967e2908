import { readFileSync } from "node:fs";
import { Ajv2020, type AnySchema, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

export type SchemaName = "output" | "help" | "progress" | "list" | "plan";

/** The published schema, and the same with every object closed: a member that no schema names is then a fault. */
const validators = new Map<string, ValidateFunction>();

/** The faults of a parsed line by a schema of `schema/`; undefined where there is none. */
export function schemaFaults(name: SchemaName, line: unknown, isStrict = true): string | undefined {
	const validate = validatorOf(name, isStrict);
	if (validate(line)) return undefined;
	const faults = (validate.errors ?? []).map(
		({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
	);
	return `${name}: ${JSON.stringify(line)}\n  ${faults.join("\n  ")}`;
}

/** The faults of the lines of a text, by the schema of each line's type, or of a list's item. */
export function faultsOfLines(text: string, untyped: SchemaName = "list"): string[] {
	return text.split("\n").flatMap((line) => {
		if (!line.startsWith("{")) return [];
		const value: unknown = JSON.parse(line);
		const type = isRecord(value) ? value["type"] : undefined;
		const isItem = isRecord(value) && "in_list" in value;
		const name = isItem || typeof type !== "string" ? untyped : schemaOfType(type);
		return schemaFaults(name, value) ?? [];
	});
}

function schemaOfType(type: string): SchemaName {
	if (type === "help") return "help";
	return ["note", "error", "progress"].includes(type) ? "progress" : "output";
}

export function schemaOf(name: SchemaName): AnySchema {
	const text = readFileSync(new URL(`../../schema/${name}.schema.json`, import.meta.url), "utf8");
	return JSON.parse(text) as AnySchema;
}

function validatorOf(name: SchemaName, isStrict: boolean): ValidateFunction {
	const key = `${name} ${isStrict}`;
	const known = validators.get(key);
	if (known !== undefined) return known;
	const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
	formats.default(ajv);
	const schema = schemaOf(name);
	const validate = ajv.compile(isStrict ? (closed(schema) as AnySchema) : schema);
	validators.set(key, validate);
	return validate;
}

/** The schema with each object closed that says nothing about further members. */
function closed(schema: unknown): unknown {
	if (Array.isArray(schema)) return schema.map(closed);
	if (!isRecord(schema)) return schema;
	const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)] as const);
	const isOpen = schema["type"] === "object" && "required" in schema && !("additionalProperties" in schema);
	return Object.fromEntries(isOpen ? [...entries, ["additionalProperties", false]] : entries);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
