import { openSource } from "./bytes/source.ts";
import { ReadingStop, type Fault, positionsIn, problemOf } from "./fault.ts";
import { datasetNote } from "./mistaken.ts";
import { duplicateSearch } from "./duplicate-search.ts";
import { PURPOSES, type SubjectRules } from "./purposes.ts";
import { readBatches, type Batch, Disposition, type OpenManifest, readValidRows } from "./reading.ts";
import { rowTally } from "./row-tally.ts";
import type { ParsedRow, RawRow, RowParser } from "./rows/row-reader.ts";
import { rowValidator } from "./rows/validator.ts";
import { csvFailedRows, marked } from "./failed-rows.ts";
import { excerpt } from "../text/show.ts";
import { SeenValues } from "./seen-values.ts";
import type { CheckDependencies, CheckedManifest, ManifestOptions, Row } from "./types.ts";

/** Rows between two reports of progress. */
const PROGRESS_ROWS = 4096;

/**
 * Reads a whole manifest and reports every problem in it. No problem is thrown.
 *
 * @param path the file, or `-` for standard input
 * @throws CliError exit 2 when it cannot be read or the schema cannot be used
 */
export async function checkManifest(
	path: string,
	options: ManifestOptions,
	deps: CheckDependencies,
): Promise<CheckedManifest> {
	const validator = await rowValidator(path, options);
	const name = deps.name ?? path;
	const source = await openSource(path, deps.stdin, { name, temporaryFolder: deps.temporaryFolder });
	const check = new FirstReading({ name, source, options, validator }, deps);
	try {
		await check.run();
		return check.result();
	} catch (error) {
		await source.close();
		throw error;
	}
}

class FirstReading {
	readonly #manifest: OpenManifest;
	readonly #subject: SubjectRules;
	readonly #deps: CheckDependencies;
	readonly #duplicates: ReturnType<typeof duplicateSearch>;
	readonly #tally: ReturnType<typeof rowTally>;
	readonly #seen: SeenValues;
	#reader: RowParser | undefined;
	#headFaultsSeen = 0;
	#problems = 0;
	#fatal = false;

	constructor(manifest: OpenManifest, deps: CheckDependencies) {
		this.#manifest = manifest;
		this.#subject = PURPOSES[manifest.options.purpose].subject;
		this.#tally = rowTally(this.#subject, manifest.options.shard);
		this.#seen = new SeenValues(manifest.options);
		this.#deps = deps;
		this.#duplicates = duplicateSearch(manifest, deps);
	}

	async run(): Promise<void> {
		try {
			const { source, options } = this.#manifest;
			for await (const batch of readBatches(source.first(), options)) {
				this.#deps.signal?.throwIfAborted();
				await this.#batch(batch);
			}
		} catch (error) {
			if (!(error instanceof ReadingStop)) throw error;
			this.#headFaults();
			this.#fatal = true;
			this.#problem({ field: null, code: error.code, text: error.message }, error.at ?? { line: 1, column: 1 });
		}
		await this.#settleDuplicates();
		this.#deps.onProgress?.(this.#tally.all);
	}

	result(): CheckedManifest {
		const { name, source } = this.#manifest;
		const dispositions = this.#fatal ? undefined : this.#tally.dispositions;
		return {
			name,
			format: this.#reader?.format ?? "csv",
			...this.#tally.counts(),
			problems: this.#problems,
			fatal: this.#fatal,
			readBatches: (isWanted) => readValidRows(this.#manifest, dispositions, isWanted),
			read: () => rowsOf(readValidRows(this.#manifest, dispositions)),
			failedRows: marked(this.#reader?.failedRows ?? csvFailedRows([], ","), this.#manifest.options),
			keys: this.#seen.keys,
			datasets: this.#tally.datasets,
			rowsByDataset: this.#tally.rowsByDataset,
			notes: [...this.#seen.notes, ...datasetNote(this.#manifest.options.dataset, this.#seen.keys)],
			content: source.content(),
			close: () => source.close(),
		};
	}

	async #batch({ reader, rows }: Batch): Promise<void> {
		this.#reader = reader;
		this.#headFaults();
		const parsedRows = rows.map((raw) => (raw.fault === undefined ? this.#parsed(reader, raw) : undefined));
		this.#manifest.validator.addSchemaFaults(parsedRows, (row) => `line ${rows[row]?.line}`);
		for (const [index, raw] of rows.entries()) {
			if (reader.keyColumns !== undefined && raw.cells !== undefined) {
				this.#seen.cells(reader.keyColumns, raw.cells, raw.line);
			}
			const parsed = parsedRows[index];
			if (reader.keyColumns === undefined && parsed !== undefined) this.#seen.row(parsed.metadata, raw.line);
			if (parsed?.faults.length !== 0 || this.#subject.hasFile) await this.#judge(reader, raw, parsed);
			else this.#remember(raw, parsed, this.#subject.key(parsed));
			this.#tally.next();
			if (this.#tally.all % PROGRESS_ROWS === 0) this.#deps.onProgress?.(this.#tally.all);
		}
	}

	/** Decides on a row that has faults, or may have some of what others hold. */
	async #judge(reader: RowParser, raw: RawRow, parsed: ParsedRow | undefined): Promise<void> {
		if (parsed === undefined) {
			if (raw.fault !== undefined) this.#refuse(reader, raw, undefined, [raw.fault]);
			return;
		}
		const { faults } = parsed;
		if (this.#subject.hasFile && !this.#fatal) faults.push(...(await this.#manifest.validator.fileFaults(parsed)));
		const real = faults.length === 0 ? faults : await this.#withoutPresent(raw, parsed, faults);
		if (real.length > 0) this.#refuse(reader, raw, parsed, real);
		else this.#remember(raw, parsed, this.#subject.key(parsed));
	}

	/** A row, with the faults of its text and its values. */
	#parsed(reader: RowParser, raw: RawRow): ParsedRow {
		const parsed = reader.parse(raw);
		this.#manifest.validator.faults(parsed, this.#fatal);
		return parsed;
	}

	/**
	 * The faults without those of values that the row's document has already. A row with another fault is invalid
	 * whatever its values are, so the service is not asked about it.
	 */
	async #withoutPresent(raw: RawRow, parsed: ParsedRow, faults: readonly Fault[]): Promise<readonly Fault[]> {
		const { isAlreadyPresent } = this.#deps;
		if (isAlreadyPresent === undefined || this.#fatal || faults.some(({ ofValue }) => ofValue === undefined))
			return faults;
		const { datasetId, documentId, metadata } = parsed;
		const row = { line: raw.line, datasetId, documentId, metadata };
		const real: Fault[] = [];
		for (const fault of faults) {
			if (fault.ofValue === undefined || !(await isAlreadyPresent(row, fault.ofValue))) real.push(fault);
		}
		return real;
	}

	#headFaults(): void {
		for (const fault of this.#reader?.headFaults.slice(this.#headFaultsSeen) ?? []) {
			this.#headFaultsSeen += 1;
			this.#fatal = true;
			this.#problem(fault, fault);
		}
	}

	#refuse(reader: RowParser, raw: RawRow, parsed: ParsedRow | undefined, faults: readonly Fault[]): void {
		this.#tally.place(raw, parsed, Disposition.invalid);
		const offsets = faults.map(({ field, offset }) => offset ?? (field === null ? 0 : reader.offsetOf(raw, field)));
		const places = positionsIn(raw.text, offsets, raw.line, raw.column);
		for (const [index, fault] of faults.entries()) this.#problem(fault, places[index] ?? raw);
	}

	/** @param key as `SubjectRules` gives it; letter case may differ */
	#remember(raw: RawRow, row: ParsedRow, key: string): void {
		if (this.#fatal) return;
		this.#tally.place(raw, row, Disposition.valid);
		this.#duplicates.note(row.datasetId, key, this.#tally.all);
	}

	async #settleDuplicates(): Promise<void> {
		const { required: field, same, differing } = this.#subject;
		const { skipped, conflicts, isFolded } = await this.#duplicates.decisions(this.#problems, this.#fatal);
		for (const index of skipped) this.#tally.replace(index, Disposition.duplicate);
		const why = isFolded ? " for this service, which ignores letter case, accents and trailing blanks" : "";
		for (const { row, earlier } of conflicts) {
			this.#tally.replace(row.index, Disposition.invalid);
			// The lines of a manifest that a command made mean nothing to the user.
			const isMade = this.#deps.name !== undefined && earlier.file !== "";
			const where = isMade ? `for ${excerpt(earlier.file)}` : `on line ${earlier.line}`;
			const text = `${same} as ${where}${why}, with other values; ${differing}`;
			this.#problem({ field, code: "DUPLICATE", text }, row);
		}
	}

	#problem(fault: Fault, at: { line: number; column: number }): void {
		this.#problems++;
		const sheet = this.#reader?.sheet;
		const cell = sheet === undefined ? "" : `${cellName(sheet, at.line, at.column)}: `;
		const problem = problemOf(this.#manifest.name, fault, at);
		this.#deps.onProblem({ ...problem, text: cell + problem.text, sheet });
	}
}

async function* rowsOf(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
	for await (const rows of batches) yield* rows;
}

/** A cell as spreadsheets name it: `Tabelle1!C17`. Line and column count from 1. */
function cellName(sheet: string, line: number, column: number): string {
	const name = /^[\p{L}\p{N}_]+$/u.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`;
	return `${excerpt(name)}!${letters(column - 1)}${line}`;
}

/** The letters of a column, from 0. */
function letters(column: number): string {
	const rest = Math.floor(column / 26);
	return (rest === 0 ? "" : letters(rest - 1)) + String.fromCharCode(65 + (column % 26));
}
