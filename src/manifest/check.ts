import { openSource } from "./bytes/source.ts";
import { ReadingStop, type Fault, positionsIn, problemOf } from "./fault.ts";
import { datasetNote } from "./mistaken.ts";
import { duplicateSearch } from "./duplicate-search.ts";
import { PURPOSES } from "./purposes.ts";
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
	try {
		return await firstReading({ name, source, options, validator }, deps);
	} catch (error) {
		await source.close();
		throw error;
	}
}

async function firstReading(manifest: OpenManifest, deps: CheckDependencies): Promise<CheckedManifest> {
	const { name, source, options, validator } = manifest;
	const { subject } = PURPOSES[options.purpose];
	const { signal, onProgress, onProblem, isAlreadyPresent } = deps;
	const duplicates = duplicateSearch(manifest, deps);
	const tally = rowTally(subject, options.shard);
	const seen = new SeenValues(options);
	let reader: RowParser | undefined;
	let headFaultsSeen = 0;
	let problems = 0;
	let isFatal = false;

	const report = (fault: Fault, at: { line: number; column: number }): void => {
		problems++;
		const sheet = reader?.sheet;
		const cell = sheet === undefined ? "" : `${cellName(sheet, at.line, at.column)}: `;
		const problem = problemOf(name, fault, at);
		onProblem({ ...problem, text: cell + problem.text, sheet });
	};
	const reportHead = (): void => {
		for (const fault of reader?.headFaults.slice(headFaultsSeen) ?? []) {
			headFaultsSeen += 1;
			isFatal = true;
			report(fault, fault);
		}
	};
	const refuse = (of: RowParser, raw: RawRow, parsed: ParsedRow | undefined, faults: readonly Fault[]): void => {
		tally.place(raw, parsed, Disposition.invalid);
		const offsets = faults.map(({ field, offset }) => offset ?? (field === null ? 0 : of.offsetOf(raw, field)));
		const places = positionsIn(raw.text, offsets, raw.line, raw.column);
		for (const [index, fault] of faults.entries()) report(fault, places[index] ?? raw);
	};
	const remember = (raw: RawRow, row: ParsedRow): void => {
		if (isFatal) return;
		tally.place(raw, row, Disposition.valid);
		duplicates.note(row.datasetId, subject.key(row), tally.all);
	};
	/**
	 * The faults without those of values that the row's document has already. A row with another fault is invalid
	 * whatever its values are, so the service is not asked about it.
	 */
	const withoutPresent = async (raw: RawRow, parsed: ParsedRow): Promise<readonly Fault[]> => {
		const { datasetId, documentId, metadata, faults } = parsed;
		if (isAlreadyPresent === undefined || isFatal || faults.some(({ ofValue }) => ofValue === undefined)) return faults;
		const row = { line: raw.line, datasetId, documentId, metadata };
		const real: Fault[] = [];
		for (const fault of faults) {
			if (fault.ofValue === undefined || !(await isAlreadyPresent(row, fault.ofValue))) real.push(fault);
		}
		return real;
	};
	/** Decides on a row that has faults, or may have some of what others hold. */
	const judge = async (of: RowParser, raw: RawRow, parsed: ParsedRow | undefined): Promise<void> => {
		if (parsed === undefined) {
			if (raw.fault !== undefined) refuse(of, raw, undefined, [raw.fault]);
			return;
		}
		if (subject.hasFile && !isFatal) parsed.faults.push(...(await validator.fileFaults(parsed)));
		const real = await withoutPresent(raw, parsed);
		if (real.length > 0) refuse(of, raw, parsed, real);
		else remember(raw, parsed);
	};
	/** A row, with the faults of its text and its values. */
	const parse = (of: RowParser, raw: RawRow): ParsedRow => {
		const parsed = of.parse(raw);
		validator.faults(parsed, isFatal);
		return parsed;
	};
	const take = async ({ reader: of, rows }: Batch): Promise<void> => {
		reader = of;
		reportHead();
		const parsedRows = rows.map((raw) => (raw.fault === undefined ? parse(of, raw) : undefined));
		validator.addSchemaFaults(parsedRows, (row) => `line ${rows[row]?.line}`);
		for (const [index, raw] of rows.entries()) {
			if (of.keyColumns !== undefined && raw.cells !== undefined) seen.cells(of.keyColumns, raw.cells, raw.line);
			const parsed = parsedRows[index];
			if (of.keyColumns === undefined && parsed !== undefined) seen.row(parsed.metadata, raw.line);
			if (parsed?.faults.length !== 0 || subject.hasFile) await judge(of, raw, parsed);
			else remember(raw, parsed);
			tally.next();
			if (tally.all % PROGRESS_ROWS === 0) onProgress?.(tally.all);
		}
	};
	const settleDuplicates = async (): Promise<void> => {
		const { required: field, same, differing } = subject;
		const { skipped, conflicts, isFolded } = await duplicates.decisions(problems, isFatal);
		for (const index of skipped) tally.replace(index, Disposition.duplicate);
		const why = isFolded ? " for this service, which ignores letter case, accents and trailing blanks" : "";
		for (const { row, earlier } of conflicts) {
			tally.replace(row.index, Disposition.invalid);
			// The lines of a manifest that a command made mean nothing to the user.
			const isMade = deps.name !== undefined && earlier.file !== "";
			const where = isMade ? `for ${excerpt(earlier.file)}` : `on line ${earlier.line}`;
			const text = `${same} as ${where}${why}, with other values; ${differing}`;
			report({ field, code: "DUPLICATE", text }, row);
		}
	};
	try {
		for await (const batch of readBatches(source.first(), options)) {
			signal?.throwIfAborted();
			await take(batch);
		}
	} catch (error) {
		if (!(error instanceof ReadingStop)) throw error;
		reportHead();
		isFatal = true;
		report({ field: null, code: error.code, text: error.message }, error.at ?? { line: 1, column: 1 });
	}
	await settleDuplicates();
	onProgress?.(tally.all);
	const dispositions = isFatal ? undefined : tally.dispositions;
	return {
		name,
		format: reader?.format ?? "csv",
		...tally.counts(),
		problems,
		fatal: isFatal,
		readBatches: (isWanted) => readValidRows(manifest, dispositions, isWanted),
		read: () => rowsOf(readValidRows(manifest, dispositions)),
		failedRows: marked(reader?.failedRows ?? csvFailedRows([], ","), options),
		keys: seen.keys,
		datasets: tally.datasets,
		rowsByDataset: tally.rowsByDataset,
		notes: [...seen.notes, ...datasetNote(options.dataset, seen.keys)],
		content: source.content(),
		close: () => source.close(),
	};
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
