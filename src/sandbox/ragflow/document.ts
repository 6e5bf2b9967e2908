import type { Release } from "../flavours/release.ts";
import { integerColumn, textColumn } from "../store/database.ts";
import type { ParserSettings } from "../store/parser-settings.ts";
import type { ParsingState } from "../store/parsing-states.ts";
import { suffixOf } from "./names.ts";

/** `metadata` is the text that is shown; undefined for none. */
type Shown = {
	readonly metadata: string | undefined;
	readonly parser: ParserSettings;
	readonly state: ParsingState;
	/** the members that name how it is parsed */
	readonly parserMembers: readonly Release["parserMember"][];
};

/** A document as JSON text, with or without its metadata: the members that a client may read, and some more. */
export function documentText(row: unknown, dataset: string, { metadata, parser, state, parserMembers }: Shown): string {
	const [createTime, updateTime] = [integerColumn(row, "create_time"), integerColumn(row, "update_time")];
	const name = textColumn(row, "name");
	const before = JSON.stringify({
		chunk_count: state.chunkCount,
		...Object.fromEntries(parserMembers.map((member) => [member, parser.method])),
		create_date: new Date(createTime).toUTCString(),
		create_time: createTime,
		dataset_id: dataset,
		id: textColumn(row, "id"),
		location: name,
	});
	const after = JSON.stringify({
		name,
		progress: state.progress,
		progress_msg: state.message,
		run: state.run,
		size: integerColumn(row, "size"),
		source_type: "local",
		status: state.isEnabled ? "1" : "0",
		suffix: suffixOf(name),
		thumbnail: null,
		token_count: state.tokenCount,
		update_date: new Date(updateTime).toUTCString(),
		update_time: updateTime,
	});
	// A text, because an object would reorder the keys.
	const between = metadata === undefined ? "" : `"meta_fields":${metadata},`;
	return `${before.slice(0, -1)},${between}${after.slice(1, -1)},"parser_config":${parser.config}}`;
}
