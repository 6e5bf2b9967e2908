import { rawItems, rawMembers } from "../json-text.ts";

/**
 * The types that Elasticsearch gives to new fields: RAGFlow's index of metadata has `"dynamic": true` and no further rule
 * (conf/doc_meta_es_mapping.json, the same from v0.24.0 to v0.27.0, with Elasticsearch 8.11.3 by docker/.env).
 */
type FieldType = "long" | "float" | "boolean" | "date" | "slashed_date" | "text" | "object";

type Kind = "integer" | "decimal" | "boolean" | "text";

/** A value that is neither null, nor an object, nor a list; `text` is a text's content, and any other value as it is written. */
type Scalar = { readonly kind: Kind; readonly text: string };

/** The types of the fields that metadata adds, or `undefined` where the engine refuses them. */
export type NewTypes = ReadonlyMap<string, FieldType> | undefined;

/**
 * Indexes metadata as the engine would. A document that is refused adds no field.
 *
 * @param metadata JSON text
 * @param typeOf the type of a field that is known
 */
export function newTypes(metadata: string, typeOf: (path: string) => string | undefined): NewTypes {
	const added = new Map<string, FieldType>();
	return addMembers("", metadata, { added, typeOf }) ? added : undefined;
}

type Fields = {
	readonly added: Map<string, FieldType>;
	readonly typeOf: (path: string) => string | undefined;
};

function addMembers(parent: string, object: string, fields: Fields): boolean {
	for (const [key, raw] of rawMembers(object)) {
		const parts = partsOf(key);
		if (parts === undefined || !addField(parent, parts, raw, fields)) return false;
	}
	return true;
}

/**
 * A dot in a key makes an object: `a.b` is the field `b` of `a`. Dots at the end count for nothing, and no part may be
 * empty or blank (`doExpandDots` in DotExpandingXContentParser, `throwFieldNameBlank` in DocumentParser).
 */
function partsOf(key: string): readonly string[] | undefined {
	const parts = key.replace(/\.+$/, "").split(".");
	return parts.some((part) => part.trim() === "") ? undefined : parts;
}

function addField(parent: string, parts: readonly string[], raw: string, fields: Fields): boolean {
	let path = parent;
	for (const [index, part] of parts.entries()) {
		path = path === "" ? part : `${path}.${part}`;
		if (index < parts.length - 1 && !addType(path, "object", fields)) return false;
	}
	return addValue(path, raw, fields);
}

function addValue(path: string, raw: string, fields: Fields): boolean {
	if (raw === "null") return true;
	if (raw.startsWith("[")) return rawItems(raw).every((item) => addValue(path, item, fields));
	if (raw.startsWith("{")) return addType(path, "object", fields) && addMembers(path, raw, fields);
	const value = scalarOf(raw);
	const known = fields.typeOf(path);
	if (known !== undefined) return rules.get(known)?.(value) ?? false;
	const made = typeMadeBy(value);
	return (rules.get(made)?.(value) ?? false) && addType(path, made, fields);
}

/** All values of one document must make the same type of a new field (elastic/elasticsearch, issues 15377 and 95528). */
function addType(path: string, type: FieldType, { added, typeOf }: Fields): boolean {
	const known = typeOf(path) ?? added.get(path);
	if (known === undefined) added.set(path, type);
	return known === undefined || known === type;
}

function scalarOf(raw: string): Scalar {
	if (raw.startsWith('"')) return { kind: "text", text: String(JSON.parse(raw)) };
	if (raw === "true" || raw === "false") return { kind: "boolean", text: raw };
	return { kind: /^-?\d+$/.test(raw) ? "integer" : "decimal", text: raw };
}

/** `createDynamicFieldFromValue` in DynamicFieldsBuilder: date detection is on, numeric detection off, a double becomes a float. */
function typeMadeBy({ kind, text }: Scalar): FieldType {
	if (kind === "integer") return "long";
	if (kind === "decimal") return "float";
	if (kind === "boolean") return "boolean";
	// A year alone is a number, and numbers make no date.
	if (/^\d+$/.test(text)) return "text";
	return isIsoDate(text) ? "date" : isSlashedDate(text) ? "slashed_date" : "text";
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const milliseconds = /^-?\d{1,18}(?:\.\d+)?$/;

/**
 * Which values a field takes. Numbers are coerced: "7" and 7.5 go into a long, and an empty text counts as none
 * (`parse` of NumberFieldMapper, the setting `coerce`). A boolean takes its words and an empty text, a date also
 * milliseconds, and a text every value but an object.
 */
const rules: ReadonlyMap<string, (value: Scalar) => boolean> = new Map<FieldType, (value: Scalar) => boolean>([
	["long", ({ kind, text }) => kind !== "boolean" && (isEmpty(kind, text) || (number.test(text) && isLong(text)))],
	[
		"float",
		({ kind, text }) =>
			kind !== "boolean" &&
			(isEmpty(kind, text) || (number.test(text.trim()) && Number.isFinite(Math.fround(Number(text))))),
	],
	["boolean", ({ kind, text }) => kind === "boolean" || (kind === "text" && ["true", "false", ""].includes(text))],
	["date", ({ kind, text }) => kind !== "boolean" && (milliseconds.test(text) || isIsoDate(text))],
	["slashed_date", ({ kind, text }) => kind !== "boolean" && (milliseconds.test(text) || isSlashedDate(text))],
	["text", () => true],
	["object", () => false],
]);

function isEmpty(kind: Kind, text: string): boolean {
	return kind === "text" && text === "";
}

function isLong(text: string): boolean {
	// Whole numbers are compared exactly: a double does not hold the bounds.
	if (/^[+-]?\d+$/.test(text))
		return BigInt.asIntN(64, BigInt(text.replace("+", ""))) === BigInt(text.replace("+", ""));
	return Math.abs(Number(text)) < 2 ** 63;
}

const isoDate =
	/^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;
const slashedDate = /^(\d{4})\/(\d\d)\/(\d\d)(?: (\d\d):(\d\d):(\d\d))?$/;

/** `strict_date_optional_time`, the first of the two formats in `Defaults` of RootObjectMapper. */
function isIsoDate(text: string): boolean {
	return isOnCalendar(isoDate.exec(text));
}

/** `yyyy/MM/dd HH:mm:ss||yyyy/MM/dd`, the second. */
function isSlashedDate(text: string): boolean {
	return isOnCalendar(slashedDate.exec(text));
}

function isOnCalendar(found: RegExpExecArray | null): boolean {
	if (found === null) return false;
	const [year, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found
		.slice(1)
		.map((part: string | undefined) => (part === undefined ? undefined : Number(part)));
	if (hour > 23 || minute > 59 || second > 59) return false;
	const date = new Date(Date.UTC(2000, month - 1, day));
	date.setUTCFullYear(year ?? 0, month - 1, day);
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
