import { dirname, resolve, sep } from "node:path";
import type { Settings } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../json/values.ts";
import type { Mode } from "../plan/change.ts";
import type { OnExisting } from "../run/operations/namesakes.ts";
import type { ManifestFlags } from "./flags.ts";

/** Flags that change what is sent: a run is told by them, and gone on with by them. */
export type PayloadFlags = Partial<ManifestFlags> & {
	readonly mode?: Mode;
	readonly deleteToken?: string;
	readonly onlyChanged?: boolean;
	readonly set?: readonly string[];
	readonly onExisting?: OnExisting;
	readonly skipInvalid?: boolean;
	readonly allowEmpty?: boolean;
	readonly filesRoot?: string;
};

/** Flags that are one text, as `PayloadFlags` names them. */
const TEXTS = ["mode", "deleteToken", "empty", "onDuplicate", "onExisting"] as const;

/**
 * What is recorded of the flags. Paths are absolute: the run may be gone on with from anywhere.
 *
 * @param schema what the schema says, as its file may be another by then
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
	if (flags.map !== undefined) options["map"] = flags.map.map((pair) => [...pair]);
	if (flags.ignore !== undefined) options["ignore"] = [...flags.ignore];
	if (flags.set !== undefined) options["set"] = [...flags.set];
	if (flags.onlyChanged === true) options["onlyChanged"] = true;
	if (flags.skipInvalid === true) options["skipInvalid"] = true;
	if (flags.schema !== undefined) options["schema"] = flags.schema === "none" ? "none" : resolve(flags.schema);
	if (schema !== undefined && schema !== "none") options["schemaContent"] = schema;
	const beside = manifest === undefined ? "/" : manifest === "-" ? "." : dirname(manifest);
	options["filesRoot"] = resolve(flags.filesRoot ?? ownFilesRoot(manifest, settings) ?? beside);
	return options;
}

/**
 * The folder that files may lie in which a manifest among the recorded runs names: anywhere, as this program wrote it of
 * rows that were checked. Undefined for any other manifest.
 */
export function ownFilesRoot(manifest: string | undefined, { stateDir }: Settings): string | undefined {
	if (manifest === undefined || stateDir === undefined) return undefined;
	return resolve(manifest).startsWith(resolve(stateDir.value, "runs") + sep) ? "/" : undefined;
}

/** The flags that a record stands for. @throws CliError exit 8 where it is none of this program's */
export function payloadFlags(options: JsonObject): PayloadFlags {
	const text = (name: string): string | undefined => {
		const value = options[name];
		if (value === undefined || typeof value === "string") return value;
		throw damaged(name);
	};
	const texts = (name: string): string[] | undefined => {
		const value = options[name];
		if (value === undefined) return undefined;
		if (!isJsonArray(value) || !value.every((each) => typeof each === "string")) throw damaged(name);
		return [...value];
	};
	const map = options["map"];
	if (map !== undefined && !isJsonArray(map)) throw damaged("map");
	const [dataset, schema, filesRoot] = [text("dataset"), text("schema"), text("filesRoot")];
	const deleteToken = text("deleteToken");
	const [ignore, set] = [texts("ignore"), texts("set")];
	const mode = oneOf(text("mode"), ["replace", "merge"]);
	const empty = oneOf(text("empty"), ["skip", "null", "text"]);
	const onDuplicate = oneOf(text("onDuplicate"), ["error", "first", "last"]);
	const onExisting = oneOf(text("onExisting"), ["error", "skip", "update-metadata", "upload-again"]);
	return {
		...(dataset === undefined ? {} : { dataset }),
		...(schema === undefined ? {} : { schema }),
		...(filesRoot === undefined ? {} : { filesRoot }),
		...(ignore === undefined ? {} : { ignore }),
		...(set === undefined ? {} : { set }),
		...(map === undefined ? {} : { map: map.map(pairOf) }),
		...(mode === undefined ? {} : { mode }),
		...(deleteToken === undefined ? {} : { deleteToken }),
		...(empty === undefined ? {} : { empty }),
		...(onDuplicate === undefined ? {} : { onDuplicate }),
		...(onExisting === undefined ? {} : { onExisting }),
		...(options["onlyChanged"] === true ? { onlyChanged: true } : {}),
		...(options["skipInvalid"] === true ? { skipInvalid: true } : {}),
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
