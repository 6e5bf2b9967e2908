import { openSource, type Source } from "./bytes/source.ts";
import { Stop, type Fault } from "./fault.ts";
import { positionIn, positionsIn } from "./position.ts";
import { PURPOSES, type SubjectRules } from "./purposes.ts";
import { readBatches, type Batch } from "./reading.ts";
import { readValidRows } from "./second-reading.ts";
import type { Draft, RawRow, RowReader } from "./rows/draft.ts";
import { Disposition, Dispositions } from "./rows/dispositions.ts";
import { Duplicates, type Entry, type Verdict } from "./rows/duplicates.ts";
import { type Judged, RowJudge } from "./rows/judge.ts";
import { csvFailedRows } from "./failed-rows.ts";
import { excerpt } from "../text/show.ts";
import type { CheckDependencies, CheckedManifest, ManifestOptions, Problem } from "./types.ts";

/** Rows between two reports of progress. */
const PROGRESS_ROWS = 4096;

/** Conflicts told in the order of their lines; beyond these, in order within each such part. */
const SORTED_CONFLICTS = 10_000;

/**
 * Reads a whole manifest and finds everything that is wrong with it. Nothing is thrown for what it says.
 *
 * @param path the file, or `-` for standard input
 * @throws CliError exit 2 when it cannot be read or the schema cannot be used
 */
export async function checkManifest(
	path: string,
	options: ManifestOptions,
	deps: CheckDependencies,
): Promise<CheckedManifest> {
	const judge = await RowJudge.create(path, options);
	const name = deps.name ?? path;
	const source = await openSource(path, deps.stdin, deps.temporaryFolder, name);
	const check = new Check(name, options, deps, source, judge);
	try {
		await check.run();
		return check.result();
	} catch (error) {
		await source.close();
		throw error;
	} finally {
		check.release();
	}
}

class Check {
	readonly #name: string;
	readonly #options: ManifestOptions;
	readonly #subject: SubjectRules;
	readonly #deps: CheckDependencies;
	readonly #source: Source;
	readonly #judge: RowJudge;
	readonly #duplicates: Duplicates;
	/** the same by names as a service may compare them */
	readonly #alike: Duplicates | undefined;
	readonly #dispositions = new Dispositions();
	#reader: RowReader | undefined;
	#rows = 0;
	#invalid = 0;
	#duplicateSkipped = 0;
	#problems = 0;
	#fatal = false;
	#isAlike = false;

	constructor(name: string, options: ManifestOptions, deps: CheckDependencies, source: Source, judge: RowJudge) {
		this.#name = name;
		this.#options = options;
		this.#subject = PURPOSES[options.purpose].subject;
		this.#deps = deps;
		this.#source = source;
		this.#judge = judge;
		const folder = (): Promise<string> => source.scratch();
		this.#duplicates = new Duplicates(folder, "keys");
		if (this.#subject.hasFile && deps.alike !== undefined) this.#alike = new Duplicates(folder, "alike");
	}

	async run(): Promise<void> {
		try {
			for await (const batch of readBatches(this.#source.first(), this.#options)) {
				this.#deps.signal?.throwIfAborted();
				await this.#batch(batch);
			}
		} catch (error) {
			if (!(error instanceof Stop)) throw error;
			this.#headFaults();
			this.#fatal = true;
			this.#problem({ field: null, code: error.code, text: error.message }, error.at ?? { line: 1, column: 1 });
		}
		await this.#settleDuplicates();
		this.#deps.onProgress?.(this.#rows);
	}

	result(): CheckedManifest {
		const dispositions = this.#dispositions;
		const source = this.#source;
		return {
			name: this.#name,
			format: this.#reader?.format ?? "csv",
			rows: this.#rows,
			invalid: this.#invalid,
			duplicateSkipped: this.#duplicateSkipped,
			problems: this.#problems,
			fatal: this.#fatal,
			read: () => readValidRows(this.#name, source, this.#options, this.#judge, this.#fatal ? undefined : dispositions),
			failedRows: this.#reader?.failedRows ?? csvFailedRows([], ","),
			content: source.content(),
			close: () => source.close(),
		};
	}

	/** Frees what only the check needs. */
	release(): void {
		this.#duplicates.close();
		this.#alike?.close();
	}

	async #batch({ reader, rows }: Batch): Promise<void> {
		this.#reader = reader;
		this.#headFaults();
		const drafts = await this.#judged(reader, rows);
		for (const [index, raw] of rows.entries()) {
			const draft = drafts[index];
			if (raw.fault === undefined && draft !== undefined) {
				const { faults } = draft;
				if (this.#subject.hasFile && !this.#fatal) faults.push(...(await this.#judge.fileFaults(draft)));
				const standing = faults.length === 0 ? faults : await this.#unexcused(raw, draft, faults);
				if (standing.length > 0) this.#refuse(reader, raw, standing);
				else if (!this.#fatal) await this.#remember(reader, raw, draft);
			} else if (raw.fault !== undefined) this.#refuse(reader, raw, [raw.fault]);
			this.#rows++;
			if (this.#rows % PROGRESS_ROWS === 0) this.#deps.onProgress?.(this.#rows);
		}
	}

	/** The drafts of readable rows, with what is wrong with their values. A schema judges many rows at once. */
	async #judged(reader: RowReader, rows: readonly RawRow[]): Promise<readonly (Draft | undefined)[]> {
		const judged: Judged[] = [];
		const drafts = rows.map((raw) => {
			if (raw.fault !== undefined) return undefined;
			const draft = reader.draft(raw);
			const faults = this.#judge.faults(draft, this.#fatal);
			if (draft.isReadable) judged.push({ metadata: draft.metadata, place: `line ${raw.line}`, faults });
			return draft;
		});
		await this.#judge.meetSchema(judged, this.#deps.signal);
		return drafts;
	}

	/** A row with another fault is invalid whatever its values are: nobody is asked about them. */
	async #unexcused(raw: RawRow, draft: Draft, faults: readonly Fault[]): Promise<readonly Fault[]> {
		const { excuse } = this.#deps;
		if (excuse === undefined || this.#fatal || faults.some(({ ofValue }) => ofValue === undefined)) return faults;
		const { datasetId, documentId, metadata } = draft;
		const standing: Fault[] = [];
		for (const fault of faults) {
			const row = { line: raw.line, datasetId, documentId, metadata };
			if (fault.ofValue === undefined || !(await excuse(row, fault.ofValue))) standing.push(fault);
		}
		return standing;
	}

	#headFaults(): void {
		for (const fault of this.#reader?.headFaults() ?? []) {
			this.#fatal = true;
			this.#problem(fault, fault);
		}
	}

	#refuse(reader: RowReader, raw: RawRow, faults: readonly Fault[]): void {
		this.#invalid++;
		this.#dispositions.set(this.#rows, Disposition.invalid);
		const offsets = faults.map(({ field, offset }) => offset ?? (field === null ? 0 : reader.offsetOf(raw, field)));
		const places = positionsIn(raw.text, offsets, raw.line, raw.column);
		for (const [index, fault] of faults.entries()) {
			const field = fault.field ?? (fault.offset === undefined ? null : reader.fieldAt(raw, fault.offset));
			this.#problem({ ...fault, field }, places[index] ?? raw);
		}
	}

	async #remember(reader: RowReader, raw: RawRow, draft: Draft): Promise<void> {
		this.#dispositions.set(this.#rows, Disposition.valid);
		for (const each of [this.#duplicates, this.#alike]) if (each?.isFull === true) await each.makeRoom();
		const field = this.#subject.required;
		const idOffset = field === "document_id" ? draft.idOffset : undefined;
		const { line, column } = positionIn(raw.text, idOffset ?? reader.offsetOf(raw, field), raw.line, raw.column);
		const { key, payload } = this.#judge.identity(draft, reader.format);
		this.#duplicates.add(key, payload, { index: this.#rows, line, column });
		this.#alike?.add(this.#deps.alike?.keyOf(key) ?? key, payload, { index: this.#rows, line, column });
	}

	/** Which names are one is asked only where it matters: where some differ by what not every service compares. */
	async #decisiveDuplicates(): Promise<Duplicates> {
		const [exact, alike] = [this.#duplicates, this.#alike];
		if (alike === undefined || this.#fatal || (await alike.count()) === (await exact.count())) return exact;
		return (await this.#deps.alike?.applies(this.#problems)) === true ? alike : exact;
	}

	async #settleDuplicates(): Promise<void> {
		const duplicates = await this.#decisiveDuplicates();
		this.#isAlike = duplicates === this.#alike;
		let conflicts: Extract<Verdict, { kind: "conflict" }>[] = [];
		for await (const verdict of duplicates.verdicts(this.#options.onDuplicate)) {
			if (verdict.kind === "skip") {
				this.#duplicateSkipped++;
				this.#dispositions.set(verdict.row.index, Disposition.duplicate);
			} else if (conflicts.push(verdict) === SORTED_CONFLICTS) {
				this.#conflicts(conflicts);
				conflicts = [];
			}
		}
		this.#conflicts(conflicts);
	}

	#conflicts(conflicts: readonly { readonly row: Entry; readonly earlier: Entry }[]): void {
		const field = this.#subject.required;
		for (const { row, earlier } of conflicts.toSorted((left, right) => left.row.index - right.row.index)) {
			this.#invalid++;
			this.#dispositions.set(row.index, Disposition.invalid);
			const why = this.#isAlike ? " for this service, which ignores letter case, accents and trailing blanks" : "";
			const text = `${this.#subject.same} as on line ${earlier.line}${why}, with other values; see --on-duplicate`;
			this.#problem({ field, code: "DUPLICATE", text }, row);
		}
	}

	#problem({ field, code, text }: Fault, { line, column }: { line: number; column: number }): void {
		this.#problems++;
		const problem: Problem = { file: this.#name, line, column, field, code, text: sentence(field, text) };
		this.#deps.onProblem(problem);
	}
}

function sentence(field: string | null, text: string): string {
	return field === null ? text : `${excerpt(field)}: ${text}`;
}
