import { dirname, resolve, sep } from "node:path";
import type { Settings } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../json/values.ts";
import type { Mode } from "../plan/change.ts";
import type { OnExisting } from "../run/operations/namesakes.ts";
import { parseShard, type Shard, shardText } from "../shard.ts";
import type { ManifestFlags } from "./flags.ts";

/** Flags that say how a manifest is read. Some may not be known, as in the record of a run. */
export type AnyManifestFlags = { readonly [Name in keyof ManifestFlags]?: ManifestFlags[Name] | undefined };

/** Flags that change what is sent. They identify a run, and a resumed run takes them from its record. */
export type PayloadFlags = AnyManifestFlags & {
	readonly mode?: Mode | undefined;
	readonly deleteToken?: string | undefined;
	readonly onlyChanged?: boolean | undefined;
	/** `docs download`: the folder, and whether files that are there may be written over */
	readonly folder?: string | undefined;
	readonly overwrites?: boolean | undefined;
	readonly onlyFailed?: boolean | undefined;
	readonly again?: boolean | undefined;
	/** `docs upload`: parses the documents; `wait` follows that to its end */
	readonly parse?: boolean | undefined;
	readonly wait?: boolean | undefined;
	readonly set?: readonly string[] | undefined;
	readonly onExisting?: OnExisting | undefined;
	readonly checksum?: boolean | undefined;
	readonly skipInvalid?: boolean | undefined;
	readonly allowEmpty?: boolean | undefined;
	readonly allowTypeChange?: boolean | undefined;
	readonly filesRoot?: string | undefined;
	readonly shard?: Shard | undefined;
};

/** Members of `PayloadFlags` that are one text. */
const TEXTS = [
	"mode",
	"deleteToken",
	"empty",
	"onDuplicate",
	"onExisting",
	"sheet",
	"encoding",
	"dateFormat",
	"listSeparator",
] as const;

/** Members that are recorded where they are set. */
const SWITCHES = [
	"onlyChanged",
	"checksum",
	"onlyFailed",
	"again",
	"parse",
	"wait",
	"allowTypeChange",
	"skipInvalid",
	"decimalComma",
	"overwrites",
] as const;

/** Members that are texts by their columns. */
const PAIRS = ["map", "types"] as const;

/** Members that are lists of texts. */
const LISTS = ["ignore", "set", "true", "false"] as const;

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
	const options: { [key: string]: JsonValue } = {};
	const dataset = flags.dataset ?? settings.dataset?.value;
	if (dataset !== undefined) options["dataset"] = dataset;
	for (const name of TEXTS) {
		const value = flags[name];
		if (value !== undefined) options[name] = value;
	}
	for (const name of PAIRS) {
		const pairs = flags[name];
		if (pairs !== undefined) options[name] = pairs.map((pair) => [...pair]);
	}
	for (const name of LISTS) {
		const texts = flags[name];
		if (texts !== undefined) options[name] = [...texts];
	}
	for (const name of SWITCHES) if (flags[name] === true) options[name] = true;
	if (flags.folder !== undefined) options["folder"] = resolve(flags.folder);
	if (flags.shard !== undefined) options["shard"] = shardText(flags.shard);
	if (flags.schema !== undefined) options["schema"] = flags.schema === "none" ? "none" : resolve(flags.schema);
	if (schema !== undefined && schema !== "none") options["schemaContent"] = schema;
	const beside = manifest === undefined ? "/" : manifest === "-" ? "." : dirname(manifest);
	options["filesRoot"] = resolve(flags.filesRoot ?? ownFilesRoot(manifest, settings) ?? beside);
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
	const text = (name: string): string | undefined => {
		const value = options[name];
		if (value === undefined || typeof value === "string") return value;
		throw damaged(name);
	};
	const list = (name: string): readonly JsonValue[] | undefined => {
		const value = options[name];
		if (value === undefined || isJsonArray(value)) return value;
		throw damaged(name);
	};
	const texts = (name: string): string[] | undefined =>
		list(name)?.map((each) => {
			if (typeof each === "string") return each;
			throw damaged(name);
		});
	const isSet = (name: string): true | undefined => (options[name] === true ? true : undefined);
	const part = text("shard");
	const shard = part === undefined ? undefined : parseShard(part);
	if (part !== undefined && shard === undefined) throw damaged("shard");
	return {
		dataset: text("dataset"),
		schema: text("schema"),
		filesRoot: text("filesRoot"),
		ignore: texts("ignore"),
		set: texts("set"),
		sheet: text("sheet"),
		encoding: text("encoding"),
		decimalComma: isSet("decimalComma"),
		dateFormat: text("dateFormat"),
		listSeparator: text("listSeparator"),
		true: texts("true"),
		false: texts("false"),
		map: list("map")?.map(pairOf),
		types: list("types")?.map(pairOf),
		mode: oneOf(text("mode"), ["replace", "merge"]),
		deleteToken: text("deleteToken"),
		empty: oneOf(text("empty"), ["skip", "null", "text"]),
		onDuplicate: oneOf(text("onDuplicate"), ["error", "first", "last"]),
		onExisting: oneOf(text("onExisting"), ["error", "skip", "update-metadata", "upload-again", "replace"]),
		shard,
		onlyChanged: isSet("onlyChanged"),
		checksum: isSet("checksum"),
		folder: text("folder"),
		overwrites: isSet("overwrites"),
		onlyFailed: isSet("onlyFailed"),
		again: isSet("again"),
		parse: isSet("parse"),
		wait: isSet("wait"),
		allowTypeChange: isSet("allowTypeChange"),
		skipInvalid: isSet("skipInvalid"),
	};
}

function oneOf<Choice extends string>(value: string | undefined, choices: readonly Choice[]): Choice | undefined {
	if (value === undefined) return undefined;
	const choice = choices.find((each) => each === value);
	if (choice === undefined) throw damaged(value);
	return choice;
}

function pairOf(pair: JsonValue): readonly [string, string] {
	const [column, key] = isJsonArray(pair) ? pair : [];
	if (typeof column !== "string" || typeof key !== "string") throw damaged("map");
	return [column, key];
}

function damaged(name: string): CliError {
	return new CliError(`run.json is not what this program wrote: ${name}; nothing was sent`, { exit: Exit.foreign });
}
