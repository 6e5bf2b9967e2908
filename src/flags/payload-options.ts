import { dirname, resolve, sep } from "node:path";
import * as v from "valibot";
import type { Settings } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json/values.ts";
import { parseShard, type Shard, shardText } from "../shard.ts";

const TEXT = v.optional(v.string());
const LIST = v.optional(v.pipe(v.array(v.string()), v.readonly()));
const PAIRS = v.optional(v.pipe(v.array(v.pipe(v.tuple([v.string(), v.string()]), v.readonly())), v.readonly()));

/** A member that is recorded where it is set. */
const SWITCH = v.optional(v.boolean());

/** The flags as they are recorded, in the order in which they are. */
const RECORDED = v.object({
	dataset: TEXT,
	mode: v.optional(v.picklist(["replace", "merge"])),
	deleteToken: TEXT,
	empty: v.optional(v.picklist(["skip", "null", "text"])),
	onDuplicate: v.optional(v.picklist(["error", "first", "last"])),
	onExisting: v.optional(v.picklist(["error", "skip", "update-metadata", "upload-again", "replace"])),
	sheet: TEXT,
	encoding: TEXT,
	dateFormat: TEXT,
	listSeparator: TEXT,
	map: PAIRS,
	types: PAIRS,
	ignore: LIST,
	set: LIST,
	true: LIST,
	false: LIST,
	onlyChanged: SWITCH,
	checksum: SWITCH,
	onlyFailed: SWITCH,
	again: SWITCH,
	/** `docs upload`: parses the documents; `wait` follows that to its end */
	parse: SWITCH,
	wait: SWITCH,
	allowTypeChange: SWITCH,
	skipInvalid: SWITCH,
	decimalComma: SWITCH,
	/** `docs download`: whether files that are there may be written over, and the folder */
	overwrites: SWITCH,
	folder: TEXT,
	shard: v.optional(
		v.pipe(
			v.string(),
			v.transform(parseShard),
			v.custom<Shard>((shard) => shard !== undefined),
		),
	),
	schema: TEXT,
	filesRoot: TEXT,
});

export type RecordedFlags = Readonly<v.InferOutput<typeof RECORDED>>;

/** Flags that change what is sent. They identify a run, and a resumed run takes them from its record. */
export type PayloadFlags = RecordedFlags & { readonly allowEmpty?: boolean | undefined };

/**
 * The flags as they are recorded. Paths are absolute, so that a run can be resumed from any folder.
 *
 * @param schema the content of the schema, because its file may change before the run is resumed
 */
export function payloadOptions(
	flags: PayloadFlags,
	manifest: string | undefined,
	settings: Settings,
	schema: JsonValue | undefined,
): JsonObject {
	const beside = manifest === undefined ? "/" : manifest === "-" ? "." : dirname(manifest);
	const own = {
		dataset: flags.dataset ?? settings.dataset?.value,
		folder: flags.folder && resolve(flags.folder),
		shard: flags.shard && shardText(flags.shard),
		schema: flags.schema === undefined || flags.schema === "none" ? flags.schema : resolve(flags.schema),
		filesRoot: resolve(flags.filesRoot ?? ownFilesRoot(manifest, settings) ?? beside),
	};
	const values: Readonly<Record<string, JsonValue | undefined>> = { ...flags, ...own };
	const options: { [key: string]: JsonValue } = {};
	for (const name of Object.keys(RECORDED.entries)) {
		// The content stands after the path.
		if (name === "filesRoot" && schema !== undefined && schema !== "none") options["schemaContent"] = schema;
		const value = values[name];
		if (value !== undefined && value !== false) options[name] = value;
	}
	return options;
}

/**
 * The folder in which the files of a manifest must be, for a manifest in the folder of recorded runs: the root. This program
 * wrote that manifest from checked rows. Undefined for any other manifest.
 */
export function ownFilesRoot(manifest: string | undefined, { stateDir }: Settings): string | undefined {
	if (manifest === undefined || stateDir === undefined) return undefined;
	return resolve(manifest).startsWith(resolve(stateDir.value, "runs") + sep) ? "/" : undefined;
}

/** The flags from a record. @throws CliError exit 8 if this program did not write the record */
export function payloadFlags(options: JsonObject): PayloadFlags {
	const { success, output, issues } = v.safeParse(RECORDED, options);
	if (success) return output;
	const name = String(issues[0].path?.[0].key);
	throw new CliError(`run.json is not what this program wrote: ${name}; nothing was sent`, { exit: Exit.foreign });
}
