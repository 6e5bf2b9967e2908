import { type Metadata, metadataText } from "../../json/values.ts";
import { isNotJson } from "../../json/parse-json.ts";
import { valueText } from "../../plan/condition.ts";
import type { Document } from "../../rest/types.ts";

/** Columns of a list of documents where `--fields` says nothing. */
export const defaultFields: readonly string[] = ["document_id", "name", "size", "create_time", "meta_fields"];

/** Members of a document that are no metadata. */
export const documentMembers: ReadonlyMap<string, (document: Document) => string | number | undefined> = new Map([
	["dataset_id", ({ datasetId }: Document) => datasetId],
	["document_id", ({ id }: Document) => id],
	["name", ({ name }: Document) => name],
	["size", ({ size }: Document) => size],
	["create_time", ({ createTime }: Document) => createTime],
]);

/** The cells of a document: its members by name, everything else by metadata key. */
export function documentCells(document: Document, fields: readonly string[]): string[] {
	return fields.map((field) => {
		const member = documentMembers.get(field);
		if (member !== undefined) return String(member(document) ?? "");
		if (field === "meta_fields")
			return document.metadata === undefined ? "" : metadataText(document.metadata, document.inexact);
		return document.inexact?.get(field) ?? valueText(document.metadata?.get(field));
	});
}

/**
 * The JSON text of a document, with `fields` only what they name. Text, so that metadata keeps the order of its keys.
 *
 * Keys whose values are no JSON stand beside `meta_fields` in `not_json`, with the text of each value: no JSON can hold
 * them, and a manifest that has this member is refused rather than written back without them.
 */
export function documentJson(document: Document, fields: readonly string[] | undefined): string {
	const parts: string[] = [];
	for (const [name, member] of documentMembers) {
		if (fields === undefined || fields.includes(name)) {
			parts.push(`${JSON.stringify(name)}:${JSON.stringify(member(document) ?? null)}`);
		}
	}
	const metadata: Metadata = document.metadata ?? new Map();
	const whole = fields === undefined || fields.includes("meta_fields");
	const shown = whole ? metadata : new Map([...metadata].filter(([key]) => fields.includes(key)));
	const named = fields?.some((field) => !documentMembers.has(field)) ?? true;
	if (named) {
		const apart = [...(document.inexact ?? [])].filter(([key, text]) => shown.has(key) && isNotJson(text));
		const keys = new Set(apart.map(([key]) => key));
		const rest = keys.size === 0 ? shown : new Map([...shown].filter(([key]) => !keys.has(key)));
		parts.push(`"meta_fields":${metadataText(rest, document.inexact)}`);
		if (keys.size > 0) parts.push(`"not_json":${metadataText(new Map(apart))}`);
	}
	return `{${parts.join(",")}}`;
}
