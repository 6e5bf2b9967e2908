import type { Metadata } from "../../json/values.ts";
import type { Fault } from "../fault.ts";
import type { ManifestOptions } from "../types.ts";
import { PURPOSES } from "../purposes.ts";
import type { Draft, RowReader } from "./draft.ts";
import { FileFinder, type FoundFile } from "./files.ts";
import { DEEPEST_METADATA, isDeeperThan } from "../../json/values.ts";
import { payloadText } from "./identity.ts";
import { idFault, idKey } from "./ids.ts";
import { type Checked, SchemaCheck } from "./schema.ts";
import { valueFaults } from "./values.ts";

/** A row as a schema judges it, and the faults that it has so far. */
export type Judged = Checked & { readonly faults: Fault[] };

/** Judges rows by everything that does not depend on their format. */
export class RowJudge {
	readonly #options: ManifestOptions;
	readonly #schema: SchemaCheck | undefined;
	readonly #files: FileFinder;

	private constructor(path: string, options: ManifestOptions, schema: SchemaCheck | undefined) {
		this.#options = options;
		this.#schema = schema;
		this.#files = new FileFinder(path, options.filesRoot);
	}

	/** @throws CliError exit 2 when the schema cannot be used */
	static async create(path: string, options: ManifestOptions): Promise<RowJudge> {
		return new RowJudge(path, options, readsMetadata(options) ? await SchemaCheck.of(options) : undefined);
	}

	/**
	 * All that is wrong with a row but for its schema. Adds to the draft what the command line says of every row.
	 *
	 * @param headerIsWrong then the ids may be missing in all rows, which the header's own problem says once
	 */
	faults(draft: Draft, headerIsWrong: boolean): Fault[] {
		const faults = draft.faults;
		if (!draft.isReadable) return faults;
		this.complete(draft);
		const add = (fault: Fault | undefined): void => {
			if (fault !== undefined && !faults.some(({ field }) => field === fault.field)) faults.push(fault);
		};
		if (!headerIsWrong) {
			add(PURPOSES[this.#options.purpose].subject.fault(draft));
			if (draft.datasetId === "")
				add({ field: "dataset_id", code: "NO_DATASET", text: "is empty, and no --dataset is given" });
			else add(idFault("dataset_id", draft.datasetId));
		}
		if (readsMetadata(this.#options)) this.#judgeValues(draft.metadata, faults);
		return faults;
	}

	/**
	 * Adds to the faults of rows those by the schema. A field that has one already is not judged again.
	 *
	 * @throws CliError exit 2 where the schema takes too long
	 */
	async meetSchema(rows: readonly Judged[], signal?: AbortSignal): Promise<void> {
		if (this.#schema === undefined) return;
		const found = await this.#schema.faults(rows, signal);
		for (const [index, { faults }] of rows.entries()) {
			const known = new Set(faults.map(({ field }) => field));
			for (const fault of found[index] ?? []) if (!known.has(fault.field)) faults.push(fault);
		}
	}

	/** What is wrong with what the command line says of every row. */
	async settingFaults(): Promise<Fault[]> {
		const faults: Fault[] = [];
		this.#judgeValues(this.#options.set, faults);
		await this.meetSchema([{ metadata: this.#options.set, place: "--set", faults }]);
		return faults;
	}

	#judgeValues(metadata: Metadata, faults: Fault[]): void {
		for (const [key, value] of metadata) {
			if (!isDeeperThan(value, DEEPEST_METADATA - 1) || faults.some(({ field }) => field === key)) continue;
			faults.push({ field: key, code: "TOO_DEEP", text: `is nested more than ${DEEPEST_METADATA - 1} deep` });
		}
		const { schema, deleteToken } = this.#options;
		if (schema === "none") return;
		for (const fault of valueFaults(metadata, deleteToken))
			if (!faults.some(({ field }) => field === fault.field)) faults.push(fault);
	}

	async fileFaults(draft: Draft): Promise<Fault[]> {
		if (!draft.isReadable || draft.faults.some(({ field }) => field === "file")) return [];
		const found = await this.#files.find(draft);
		return "code" in found ? [found] : [];
	}

	file(draft: Draft): Promise<FoundFile | Fault> {
		return this.#files.find(draft);
	}

	/** `--dataset` for rows that name none, and `--set` for all. */
	complete(draft: Draft): void {
		if (draft.datasetId === "" && !draft.faults.some(({ field }) => field === "dataset_id")) {
			draft.datasetId = this.#options.dataset ?? "";
		}
		if (!readsMetadata(this.#options)) return;
		for (const [key, value] of this.#options.set) draft.metadata.set(key, value);
	}

	/** What a row is about, and what it says of it. */
	identity(draft: Draft, format: RowReader["format"]): { key: string; payload: string } {
		// A key that `--set` adds stands in its column's place in one row and at the end in another.
		const inOrder = format === "csv" && this.#options.set.size === 0;
		const payload = payloadText(draft.metadata, inOrder);
		const { subject } = PURPOSES[this.#options.purpose];
		return { key: `${idKey(draft.datasetId)}\0${subject.key(draft)}`, payload: `${subject.rest(draft)}\0${payload}` };
	}
}

function readsMetadata({ purpose }: Pick<ManifestOptions, "purpose">): boolean {
	return PURPOSES[purpose].metadata !== "ignored";
}
