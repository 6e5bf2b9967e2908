import { canonicalObject, type Metadata, DEEPEST_METADATA, isDeeperThan } from "../../json/values.ts";
import type { ManifestOptions } from "../types.ts";
import { PURPOSES } from "../purposes.ts";
import type { ParsedRow } from "./row-reader.ts";
import { idKey, isStoredName } from "../../text/names.ts";
import { schemaFaults } from "./schema-check.ts";
import { idFault, valueFaults } from "./values.ts";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { errorCode, reason } from "../../errors.ts";
import type { Fault } from "../fault.ts";
import { excerpt } from "../../text/show.ts";

export type RowValidator = Awaited<ReturnType<typeof rowValidator>>;

/**
 * Finds the faults of rows that do not depend on the format of the manifest.
 *
 * @param path of the manifest, from which its files are found
 * @throws CliError exit 2 when the schema cannot be used
 */
export async function rowValidator(path: string, options: ManifestOptions) {
	const { metadata, subject } = PURPOSES[options.purpose];
	const readsMetadata = metadata !== "ignored";
	const bySchema = readsMetadata ? await schemaFaults(options) : undefined;
	const findFile = fileFinder(path, options.filesRoot);

	const addValueFaults = (values: Metadata, faults: Fault[]): void => {
		for (const [key, value] of values) {
			if (!isDeeperThan(value, DEEPEST_METADATA - 1)) continue;
			add(faults, { field: key, code: "TOO_DEEP", text: `is nested more than ${DEEPEST_METADATA - 1} deep` });
		}
		const { schema, deleteToken } = options;
		if (schema !== "none") for (const fault of valueFaults(values, deleteToken)) add(faults, fault);
	};
	/** Gives a row the dataset of `--dataset` where it names none, and the values of `--set`. */
	const applyOptions = (parsed: ParsedRow): void => {
		if (parsed.datasetId === "" && !parsed.faults.some(({ field }) => field === "dataset_id")) {
			parsed.datasetId = options.dataset ?? "";
		}
		if (!readsMetadata) return;
		for (const [key, value] of options.set) parsed.metadata.set(key, value);
	};
	/**
	 * Adds the faults by the schema to those of each readable row. A field that has a fault already gets no second one.
	 *
	 * @param rows undefined for those that have no values to check
	 * @param placeOf the name of a row in messages
	 * @throws CliError exit 2 where the schema takes too long
	 */
	const addSchemaFaults = (rows: readonly (ParsedRow | undefined)[], placeOf: (row: number) => string): void => {
		const found = bySchema?.(
			rows.map((row) => row?.metadata ?? new Map()),
			placeOf,
		);
		if (found === undefined) return;
		for (const [index, row] of rows.entries()) {
			if (row?.isReadable !== true) continue;
			const known = new Set(row.faults.map(({ field }) => field));
			for (const fault of found[index] ?? []) if (!known.has(fault.field)) row.faults.push(fault);
		}
	};
	return {
		applyOptions,
		addSchemaFaults,
		/** The file of a row of an upload by its real path, or what is wrong with it. */
		findFile,
		/**
		 * All faults of a row but those of the schema. It applies the options to the row first.
		 *
		 * @param headerIsWrong whether the header has a problem, which may be that the column of the ids is missing
		 */
		faults(parsed: ParsedRow, headerIsWrong: boolean): Fault[] {
			const { faults } = parsed;
			if (!parsed.isReadable) return faults;
			applyOptions(parsed);
			if (!headerIsWrong) {
				add(faults, subject.fault(parsed));
				if (subject.roles.dataset_id !== undefined) add(faults, datasetFault(parsed));
			}
			if (readsMetadata) addValueFaults(parsed.metadata, faults);
			return faults;
		},
		async fileFaults(parsed: ParsedRow): Promise<Fault[]> {
			if (!parsed.isReadable || parsed.faults.some(({ field }) => field === "file")) return [];
			const found = await findFile(parsed);
			return "code" in found ? [found] : [];
		},
		/** Texts by which rows are compared: `key` is equal for rows about the same document, `payload` for the same content. */
		identity: (parsed: ParsedRow) => ({
			key: `${idKey(parsed.datasetId)}\0${subject.key(parsed)}`,
			payload: `${subject.rest(parsed)}\0${canonicalObject(parsed.metadata)}`,
		}),
	};
}

/** Adds a fault. A field that has one already gets no second one. */
function add(faults: Fault[], fault: Fault | undefined): void {
	if (fault !== undefined && !faults.some(({ field }) => field === fault.field)) faults.push(fault);
}

function datasetFault({ datasetId }: ParsedRow): Fault | undefined {
	if (datasetId !== "") return idFault("dataset_id", datasetId);
	const text = "is empty, and no dataset is given: add -d DATASET (ragtag datasets list shows them)";
	return { field: "dataset_id", code: "NO_DATASET", text };
}

export type FoundFile = { readonly path: string; readonly name: string };

/** Finds the files of an upload, none of which may lie outside the manifest's folder. */
function fileFinder(manifest: string, filesRoot: string | undefined) {
	// Paths of a manifest from standard input are relative to where the program was started.
	const root = resolve(filesRoot ?? (manifest === "-" ? "." : dirname(manifest)));
	let realRoot: string | undefined;
	return async (parsed: ParsedRow): Promise<FoundFile | Fault> => {
		if (parsed.file === "") return fault("is empty; it names the file to upload");
		if (parsed.file.includes("\0")) return fault("holds a NUL character");
		const shown = `"${excerpt(parsed.file)}"`;
		const asked = resolve(root, parsed.file);
		try {
			realRoot ??= await realpath(root);
			const path = await realpath(asked);
			const below = realRoot.endsWith(sep) ? realRoot : realRoot + sep;
			if (!path.startsWith(below))
				return fault(
					`${shown} lies outside ${excerpt(realRoot)}; if it is meant, name a folder above it with --files-root DIR`,
				);
			if (!(await stat(path)).isFile()) return fault(`${shown} is not a regular file`);
			await access(path, constants.R_OK);
			return named(path, parsed.name === "" ? basename(asked) : parsed.name);
		} catch (error) {
			if (errorCode(error) === undefined) throw error;
			return fault(
				errorCode(error) === "ENOENT" ? `${shown} does not exist` : `${shown} cannot be read: ${reason(error)}`,
			);
		}
	};
}

function named(path: string, name: string): FoundFile | Fault {
	if (isStoredName(name)) return { path, name };
	return { field: "name", code: "BAD_NAME", text: `"${excerpt(name)}" is not a plain file name` };
}

function fault(text: string): Fault {
	return { field: "file", code: "BAD_FILE", text };
}
