import type { Parsing } from "../store/parsing.ts";
import { integerColumn, textColumn } from "../store/rows.ts";

type Shown = { readonly metadata: boolean; readonly parsing: Parsing };

/** A document as JSON text, its metadata among it or not: the members that a client may look at, and some beside. */
export function documentText(row: unknown, dataset: string, { metadata, parsing }: Shown): string {
	const [createTime, updateTime] = [integerColumn(row, "create_time"), integerColumn(row, "update_time")];
	const name = textColumn(row, "name");
	const before = JSON.stringify({
		chunk_count: 0,
		chunk_method: parsing.method,
		create_date: new Date(createTime).toUTCString(),
		create_time: createTime,
		dataset_id: dataset,
		id: textColumn(row, "id"),
		location: name,
	});
	const after = JSON.stringify({
		name,
		progress: 0,
		run: "UNSTART",
		size: integerColumn(row, "size"),
		source_type: "local",
		status: "1",
		suffix: suffixOf(name),
		thumbnail: null,
		token_count: 0,
		update_date: new Date(updateTime).toUTCString(),
		update_time: updateTime,
	});
	// Its own text, because an object would reorder the keys.
	const between = metadata ? `"meta_fields":${textColumn(row, "meta_fields")},` : "";
	return `${before.slice(0, -1)},${between}${after.slice(1, -1)},"parser_config":${parsing.config}}`;
}

/** The ending of a name, in small letters and without its dot; empty where there is none. */
export function suffixOf(name: string): string {
	const dot = name.lastIndexOf(".");
	return dot <= name.lastIndexOf("/") + 1 ? "" : name.slice(dot + 1).toLowerCase();
}
