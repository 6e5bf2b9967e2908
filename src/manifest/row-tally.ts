import { type Shard, shardIndexOf } from "../shard.ts";
import type { SubjectRules } from "./purposes.ts";
import type { ParsedRow, RawRow } from "./rows/row-reader.ts";
import { Disposition } from "./reading.ts";
import { RowMarks } from "./rows/repeats.ts";

/** Datasets that are remembered: more than a manifest has, but where their column holds something else. */
const MOST_DATASETS = 1_000;

/** Counts the rows of a manifest as they are checked: all of them, or those of one shard. */
export class RowTally {
	/** the disposition of each row; nothing else of a row is kept */
	readonly dispositions = new RowMarks();
	readonly datasets = new Map<string, number>();
	/** valid rows by their datasets; those of documents that have several rows count each */
	readonly rowsByDataset = new Map<string, number>();
	readonly #subject: SubjectRules;
	readonly #shard: Shard | undefined;
	#all = 0;
	#otherRows = 0;
	#invalid = 0;
	#duplicateSkipped = 0;

	/** @param shard undefined for the whole manifest */
	constructor(subject: SubjectRules, shard: Shard | undefined) {
		this.#subject = subject;
		this.#shard = shard;
	}

	/** Rows so far, those of other shards included: the position of the next one. */
	get all(): number {
		return this.#all;
	}

	counts(): { rows: number; otherRows: number; invalid: number; duplicateSkipped: number } {
		const rows = this.#all - this.#otherRows;
		return { rows, otherRows: this.#otherRows, invalid: this.#invalid, duplicateSkipped: this.#duplicateSkipped };
	}

	/** Says what the next row is. A row of another shard stays one, whatever it is there. Call `next` after it. */
	place(raw: RawRow, texts: ParsedRow | undefined, disposition: Disposition): void {
		const isOther = this.#isOther(raw, texts);
		if (isOther) this.#otherRows++;
		else if (disposition === Disposition.invalid) this.#invalid++;
		else if (texts !== undefined) this.#seeDataset(texts.datasetId, raw.line);
		this.dispositions.set(this.#all, isOther ? Disposition.other : disposition);
	}

	#seeDataset(datasetId: string, line: number): void {
		if (this.datasets.has(datasetId)) {
			this.rowsByDataset.set(datasetId, (this.rowsByDataset.get(datasetId) ?? 0) + 1);
		} else if (this.datasets.size < MOST_DATASETS) {
			this.datasets.set(datasetId, line);
			this.rowsByDataset.set(datasetId, 1);
		}
	}

	next(): void {
		this.#all++;
	}

	/** Changes what a valid row is, as another one is about the same document. */
	replace(row: number, disposition: typeof Disposition.invalid | typeof Disposition.duplicate): void {
		if (this.dispositions.of(row) === Disposition.other) return;
		this.dispositions.set(row, disposition);
		if (disposition === Disposition.invalid) this.#invalid++;
		else this.#duplicateSkipped++;
	}

	/**
	 * A row that can't be read names no document, so its line decides: every shard checks the whole manifest, and each row is
	 * counted by exactly one.
	 */
	#isOther({ line }: RawRow, texts: ParsedRow | undefined): boolean {
		if (this.#shard === undefined) return false;
		const key = texts === undefined ? "" : this.#subject.key(texts);
		return shardIndexOf(key === "" ? `line ${line}` : key, this.#shard.count) !== this.#shard.index;
	}
}
