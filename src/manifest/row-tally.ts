import { type Shard, shardIndexOf } from "../shard.ts";
import type { SubjectRules } from "./purposes.ts";
import type { ParsedRow, RawRow } from "./rows/row-reader.ts";
import { Disposition } from "./reading.ts";
import { RowMarks } from "./rows/repeats.ts";

/** Datasets that are remembered: more than a manifest has, but where their column holds something else. */
const MOST_DATASETS = 1_000;

/** Counts the rows of a manifest as they are checked: all of them, or those of one shard. @param shard undefined for all */
export function rowTally(subject: SubjectRules, shard: Shard | undefined) {
	/** the disposition of each row; nothing else of a row is kept */
	const dispositions = new RowMarks();
	/** the line that names each first */
	const datasets = new Map<string, number>();
	/** valid rows by their datasets; those of documents that have several rows count each */
	const rowsByDataset = new Map<string, number>();
	let all = 0;
	let otherRows = 0;
	let invalid = 0;
	let duplicateSkipped = 0;

	/**
	 * A row that can't be read names no document, so its line decides: every shard checks the whole manifest, and each row is
	 * counted by exactly one.
	 */
	const isOther = ({ line }: RawRow, texts: ParsedRow | undefined): boolean => {
		if (shard === undefined) return false;
		const key = texts === undefined ? "" : subject.key(texts);
		return shardIndexOf(key === "" ? `line ${line}` : key, shard.count) !== shard.index;
	};
	const seeDataset = (datasetId: string, line: number): void => {
		if (datasets.has(datasetId)) rowsByDataset.set(datasetId, (rowsByDataset.get(datasetId) ?? 0) + 1);
		else if (datasets.size < MOST_DATASETS) {
			datasets.set(datasetId, line);
			rowsByDataset.set(datasetId, 1);
		}
	};
	return {
		dispositions,
		datasets,
		rowsByDataset,
		/** Rows so far, those of other shards included: the position of the next one. */
		get all() {
			return all;
		},
		counts: () => ({ rows: all - otherRows, otherRows, invalid, duplicateSkipped }),
		/** Says what the next row is. A row of another shard stays one, whatever it is there. Call `next` after it. */
		place(raw: RawRow, texts: ParsedRow | undefined, disposition: Disposition): void {
			const isOfOther = isOther(raw, texts);
			if (isOfOther) otherRows++;
			else if (disposition === Disposition.invalid) invalid++;
			else if (texts !== undefined) seeDataset(texts.datasetId, raw.line);
			dispositions.set(all, isOfOther ? Disposition.other : disposition);
		},
		next(): void {
			all++;
		},
		/** Changes what a valid row is, as another one is about the same document. */
		replace(row: number, disposition: typeof Disposition.invalid | typeof Disposition.duplicate): void {
			if (dispositions.of(row) === Disposition.other) return;
			dispositions.set(row, disposition);
			if (disposition === Disposition.invalid) invalid++;
			else duplicateSkipped++;
		},
	};
}
