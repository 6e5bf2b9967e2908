import { listSteps, mayHoldStep } from "../../json/list-change.ts";
import { DEEPEST_METADATA, isDeeperThan } from "../../json/values.ts";
import { MAX_CELL } from "../limits.ts";
import { PURPOSES } from "../purposes.ts";
import { idFault } from "../rows/identity.ts";
import type { RawRow, SoundRows } from "../rows/row-reader.ts";
import { cellValue, type CellType } from "../rows/typed.ts";
import { VALUE_RULES, type ValueRule, valueFaults } from "../rows/values.ts";
import type { ManifestOptions } from "../types.ts";
import type { Column } from "./header.ts";

type Options = Pick<ManifestOptions, "purpose" | "dataset" | "set" | "empty" | "schema" | "mergeOnly" | "deleteToken">;

/** The cells that every row has, and their number. */
type Cells = { readonly id: number; readonly dataset: number | undefined; readonly count: number };

/** A column of metadata, and the rule for its texts if it has one. */
type KeyColumn = { readonly cell: number; readonly type: CellType; readonly rule: ValueRule | undefined };

/**
 * Tells rows without a fault by their cells alone: no value is kept and no fault is described. A row is never accepted in which
 * `CsvReader.parse` or `RowValidator.faults` finds a fault. Of the rows without a fault, some are left to those.
 *
 * @returns undefined where a schema or an option may show faults in each row
 */
export function soundRowsOf(columns: readonly Column[], options: Options): SoundRows | undefined {
	const { subject, metadata } = PURPOSES[options.purpose];
	const id = cellOf(columns, "document_id");
	if (subject.required !== "document_id" || id === undefined) return undefined;
	const cells = { id, dataset: cellOf(columns, "dataset_id"), count: columns.length };
	if (metadata === "ignored") return new SoundCells(cells, [], options);
	const { schema, set } = options;
	if (schema !== undefined && schema !== "none") return undefined;
	const isDeep = Array.from(set.values()).some((value) => isDeeperThan(value, DEEPEST_METADATA - 1));
	if (isDeep || (schema === undefined && valueFaults(set, undefined).length > 0)) return undefined;
	const keys: KeyColumn[] = [];
	for (const [cell, { use }] of columns.entries()) {
		if (use.kind !== "key") continue;
		const rule = schema === undefined ? VALUE_RULES.get(use.key) : undefined;
		if (rule !== undefined && use.type !== "text") return undefined;
		keys.push({ cell, type: use.type, rule });
	}
	return new SoundCells(cells, keys, options);
}

function cellOf(columns: readonly Column[], role: "document_id" | "dataset_id"): number | undefined {
	const cell = columns.findIndex(({ use }) => use.kind === "role" && use.role === role);
	return cell === -1 ? undefined : cell;
}

class SoundCells implements SoundRows {
	datasetId = "";
	documentId = "";
	/** only purposes that take the document's id have sound rows */
	readonly file = "";
	readonly name = "";
	readonly #cells: Cells;
	readonly #keys: readonly KeyColumn[];
	readonly #options: Options;
	/** the latest dataset without a fault: most manifests have one */
	#dataset = "";

	constructor(cells: Cells, keys: readonly KeyColumn[], options: Options) {
		this.#cells = cells;
		this.#keys = keys;
		this.#options = options;
	}

	isSound({ text, cells }: RawRow): boolean {
		// A record with a fault has no cells.
		if (cells?.length !== this.#cells.count || text.length > MAX_CELL) return false;
		const { id, dataset } = this.#cells;
		const documentId = cells[id] ?? "";
		if (idFault("document_id", documentId) !== undefined) return false;
		if (!this.#hasDataset(dataset === undefined ? "" : (cells[dataset] ?? ""))) return false;
		for (const key of this.#keys) if (!this.#isSoundCell(cells[key.cell] ?? "", key)) return false;
		this.documentId = documentId;
		return true;
	}

	#hasDataset(cell: string): boolean {
		const datasetId = cell === "" ? (this.#options.dataset ?? "") : cell;
		if (datasetId !== this.#dataset) {
			if (idFault("dataset_id", datasetId) !== undefined) return false;
			this.#dataset = datasetId;
		}
		this.datasetId = this.#dataset;
		return this.#dataset !== "";
	}

	#isSoundCell(cell: string, { type, rule }: KeyColumn): boolean {
		const { empty, mergeOnly } = this.#options;
		if (cell === "") return rule === undefined || empty !== "text";
		if (cell === mergeOnly?.token) return false;
		if (type === "text") return rule === undefined || rule.fault(cell) === undefined;
		// A list with an item like +item may be one for a merge alone, or none for a merge.
		if (type === "list") return !maybeSteps(cell, this.#options);
		const found = cellValue(cell, type);
		if (!("value" in found) || isDeeperThan(found.value, DEEPEST_METADATA - 1)) return false;
		return this.#options.deleteToken === undefined || listSteps(found.value) === undefined;
	}
}

/** Whether the items of a cell may be steps of a change, or one of them the token. */
function maybeSteps(cell: string, { mergeOnly, deleteToken }: Options): boolean {
	if (deleteToken === undefined) return mergeOnly?.lists === true && /^[+-]/.test(cell);
	return cell.includes(deleteToken) || mayHoldStep(cell);
}
