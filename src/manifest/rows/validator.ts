import { canonicalObject, type Metadata, DEEPEST_METADATA, isDeeperThan } from "../../json/values.ts";
import type { ManifestOptions } from "../types.ts";
import { PURPOSES } from "../purposes.ts";
import { emptyRow, type ParsedRow } from "./row-reader.ts";
import { idKey, isStoredName } from "../../text/names.ts";
import { type SchemaFaults, schemaFaults } from "./schema-check.ts";
import { idFault, valueFaults } from "./values.ts";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { errorCode, reason } from "../../errors.ts";
import type { Fault } from "../fault.ts";
import { excerpt } from "../../text/show.ts";

/** Finds the faults of rows that do not depend on the format of the manifest. */
export class RowValidator {
	readonly #options: ManifestOptions;
	readonly #schemaFaults: SchemaFaults | undefined;
	readonly #files: FileFinder;

	private constructor(path: string, options: ManifestOptions, schema: SchemaFaults | undefined) {
		this.#options = options;
		this.#schemaFaults = schema;
		this.#files = new FileFinder(path, options.filesRoot);
	}

	/** @throws CliError exit 2 when the schema cannot be used */
	static async create(path: string, options: ManifestOptions): Promise<RowValidator> {
		return new RowValidator(path, options, readsMetadata(options) ? await schemaFaults(options) : undefined);
	}

	/**
	 * All faults of a row but those of the schema. It applies the options to the row first.
	 *
	 * @param headerIsWrong whether the header has a problem, which may be that the column of the ids is missing
	 */
	faults(parsed: ParsedRow, headerIsWrong: boolean): Fault[] {
		const faults = parsed.faults;
		if (!parsed.isReadable) return faults;
		this.applyOptions(parsed);
		const add = (fault: Fault | undefined): void => {
			if (fault !== undefined && !faults.some(({ field }) => field === fault.field)) faults.push(fault);
		};
		if (!headerIsWrong) {
			const { subject } = PURPOSES[this.#options.purpose];
			add(subject.fault(parsed));
			if (subject.roles.dataset_id !== undefined) add(datasetFault(parsed));
		}
		if (readsMetadata(this.#options)) this.#addValueFaults(parsed.metadata, faults);
		return faults;
	}

	/**
	 * Adds the faults by the schema to those of each readable row. A field that has a fault already gets no second one.
	 *
	 * @param rows undefined for those that have no values to check
	 * @param placeOf the name of a row in messages
	 * @throws CliError exit 2 where the schema takes too long
	 */
	addSchemaFaults(rows: readonly (ParsedRow | undefined)[], placeOf: (row: number) => string): void {
		const found = this.#schemaFaults?.(
			rows.map((row) => row?.metadata ?? new Map()),
			placeOf,
		);
		if (found === undefined) return;
		for (const [index, row] of rows.entries()) {
			if (row?.isReadable !== true) continue;
			const known = new Set(row.faults.map(({ field }) => field));
			for (const fault of found[index] ?? []) if (!known.has(fault.field)) row.faults.push(fault);
		}
	}

	/** The faults of `--set`. */
	setOptionFaults(): readonly Fault[] {
		const row = emptyRow();
		for (const [key, value] of this.#options.set) row.metadata.set(key, value);
		this.#addValueFaults(row.metadata, row.faults);
		this.addSchemaFaults([row], () => "--set");
		return row.faults;
	}

	#addValueFaults(metadata: Metadata, faults: Fault[]): void {
		for (const [key, value] of metadata) {
			if (!isDeeperThan(value, DEEPEST_METADATA - 1) || faults.some(({ field }) => field === key)) continue;
			faults.push({ field: key, code: "TOO_DEEP", text: `is nested more than ${DEEPEST_METADATA - 1} deep` });
		}
		const { schema, deleteToken } = this.#options;
		if (schema === "none") return;
		for (const fault of valueFaults(metadata, deleteToken))
			if (!faults.some(({ field }) => field === fault.field)) faults.push(fault);
	}

	async fileFaults(parsed: ParsedRow): Promise<Fault[]> {
		if (!parsed.isReadable || parsed.faults.some(({ field }) => field === "file")) return [];
		const found = await this.#files.find(parsed);
		return "code" in found ? [found] : [];
	}

	findFile(parsed: ParsedRow): Promise<FoundFile | Fault> {
		return this.#files.find(parsed);
	}

	/** Gives a row the dataset of `--dataset` where it names none, and the values of `--set`. */
	applyOptions(parsed: ParsedRow): void {
		if (parsed.datasetId === "" && !parsed.faults.some(({ field }) => field === "dataset_id")) {
			parsed.datasetId = this.#options.dataset ?? "";
		}
		if (!readsMetadata(this.#options)) return;
		for (const [key, value] of this.#options.set) parsed.metadata.set(key, value);
	}

	/** Texts by which rows are compared: `key` is equal for rows about the same document, `payload` for the same content. */
	identity(parsed: ParsedRow): { key: string; payload: string } {
		const { subject } = PURPOSES[this.#options.purpose];
		return {
			key: `${idKey(parsed.datasetId)}\0${subject.key(parsed)}`,
			payload: `${subject.rest(parsed)}\0${canonicalObject(parsed.metadata)}`,
		};
	}
}

function datasetFault({ datasetId }: ParsedRow): Fault | undefined {
	if (datasetId !== "") return idFault("dataset_id", datasetId);
	const text = "is empty, and no dataset is given: add -d DATASET (ragtag datasets list shows them)";
	return { field: "dataset_id", code: "NO_DATASET", text };
}

function readsMetadata({ purpose }: Pick<ManifestOptions, "purpose">): boolean {
	return PURPOSES[purpose].metadata !== "ignored";
}

export type FoundFile = { readonly path: string; readonly name: string };

/** Finds the files of an upload, none of which may lie outside the manifest's folder. */
class FileFinder {
	readonly #root: string;
	#realRoot: string | undefined;

	constructor(manifest: string, filesRoot: string | undefined) {
		// Paths of a manifest from standard input are relative to where the program was started.
		this.#root = resolve(filesRoot ?? (manifest === "-" ? "." : dirname(manifest)));
	}

	/** @returns the file by its real path, or what is wrong with it */
	async find(parsed: ParsedRow): Promise<FoundFile | Fault> {
		if (parsed.file === "") return fault("is empty; it names the file to upload");
		if (parsed.file.includes("\0")) return fault("holds a NUL character");
		const shown = `"${excerpt(parsed.file)}"`;
		const asked = resolve(this.#root, parsed.file);
		try {
			this.#realRoot ??= await realpath(this.#root);
			const path = await realpath(asked);
			const below = this.#realRoot.endsWith(sep) ? this.#realRoot : this.#realRoot + sep;
			if (!path.startsWith(below))
				return fault(
					`${shown} lies outside ${excerpt(this.#realRoot)}; if it is meant, name a folder above it with --files-root DIR`,
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
	}
}

function named(path: string, name: string): FoundFile | Fault {
	if (isStoredName(name)) return { path, name };
	return { field: "name", code: "BAD_NAME", text: `"${excerpt(name)}" is not a plain file name` };
}

function fault(text: string): Fault {
	return { field: "file", code: "BAD_FILE", text };
}
