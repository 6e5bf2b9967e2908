import { hash } from "node:crypto";
import { idKey } from "../text/names.ts";
import { positionIn } from "./fault.ts";
import { PURPOSES } from "./purposes.ts";
import { readBatches, type OpenManifest } from "./reading.ts";
import type { RawRow, RowParser } from "./rows/row-reader.ts";
import { Repeats } from "./rows/repeats.ts";
import type { CheckDependencies, ManifestOptions } from "./types.ts";

type NameFolding = NonNullable<CheckDependencies["nameFolding"]>;

/** A row, where it begins or names its document, and its file, if it names one. */
type Entry = { readonly index: number; readonly line: number; readonly column: number; readonly file: string };

/** The rows that are not the only ones about their document. */
type Decisions = {
	/** positions of rows that are left out */
	readonly skipped: readonly number[];
	/** rows that give a document other values than an earlier row, in their order */
	readonly conflicts: readonly { readonly row: Entry; readonly earlier: Entry }[];
};

/**
 * Finds rows that are about the same document.
 *
 * Hardly any manifest has such rows. So each row leaves a fingerprint while it is checked, and only rows with a fingerprint
 * in common are read again and compared.
 */
export class DuplicateSearch {
	readonly #manifest: OpenManifest;
	readonly #signal: AbortSignal | undefined;
	/** undefined where no name is sent */
	readonly #folding: NameFolding | undefined;
	#repeats = new Repeats();
	#isFolded = false;

	constructor(manifest: OpenManifest, { signal, nameFolding }: Pick<CheckDependencies, "signal" | "nameFolding">) {
		this.#manifest = manifest;
		this.#signal = signal;
		this.#folding = PURPOSES[manifest.options.purpose].subject.hasFile ? nameFolding : undefined;
	}

	/** Whether the decisions compare names as a service does that ignores letter case. Known once they were made. */
	get isFolded(): boolean {
		return this.#isFolded;
	}

	/**
	 * Notes a valid row.
	 *
	 * @param key its document among those of the dataset, as `SubjectRules` gives it; letter case may differ
	 */
	note(datasetId: string, key: string, index: number): void {
		if (this.#folding === undefined) this.#repeats.add(datasetId, key, index);
		else this.#repeats.add("", this.#folding.fold(`${idKey(datasetId)}\0${key}`), index);
	}

	/**
	 * The decisions on rows that are not the only ones about their document.
	 *
	 * @param problems of the manifest so far
	 * @param isFatal whether the manifest has a problem that makes every row uncertain
	 * @throws CliError exit 8 when the manifest was changed while it was checked
	 */
	async decisions(problems: number, isFatal: boolean): Promise<Decisions> {
		const suspects = this.#repeats.suspects();
		// They are not held while the rows are sent.
		this.#repeats = new Repeats();
		if (suspects.size === 0) return { skipped: [], conflicts: [] };
		const { onDuplicate } = this.#manifest.options;
		const exact = new Duplicates(onDuplicate);
		const folded = new Duplicates(onDuplicate);
		await this.#read(suspects, (key, payload, row, place) => {
			exact.add(key, payload, row, place);
			if (this.#folding !== undefined) folded.add(this.#folding.fold(key), payload, row, place);
		});
		// The service is asked how it compares names only if that makes a difference.
		const isAsked = !isFatal && folded.repeats > exact.repeats;
		this.#isFolded = isAsked && (await this.#folding?.applies(problems)) === true;
		return this.#isFolded ? folded : exact;
	}

	/** Reads up to the last suspect alone: what ended the first reading may stand after it. */
	async #read(suspects: ReadonlySet<number>, add: Duplicates["add"]): Promise<void> {
		const { source, options, validator } = this.#manifest;
		let index = 0;
		let left = suspects.size;
		for await (const { reader, rows } of readBatches(source.second(), options)) {
			this.#signal?.throwIfAborted();
			for (const raw of rows) {
				if (suspects.has(index)) {
					const parsed = reader.parse(raw);
					validator.applyOptions(parsed);
					const { key, payload } = validator.identity(parsed);
					left -= 1;
					const { line, column } = raw;
					add(key, payload, { index, line, column, file: parsed.file }, () => this.#place(reader, raw));
				}
				if (left === 0) return;
				index++;
			}
		}
	}

	#place(reader: RowParser, raw: RawRow): { line: number; column: number } {
		const field = PURPOSES[this.#manifest.options.purpose].subject.required;
		return positionIn(raw.text, reader.offsetOf(raw, field), raw.line, raw.column);
	}
}

/** Decides on rows that are about the same document. Keys and contents are held as hashes. */
class Duplicates implements Decisions {
	readonly skipped: number[] = [];
	readonly conflicts: { readonly row: Entry; readonly earlier: Entry }[] = [];
	readonly #policy: ManifestOptions["onDuplicate"];
	/** by document, the row that is sent */
	readonly #sent = new Map<string, { readonly content: string; readonly row: Entry }>();

	constructor(policy: ManifestOptions["onDuplicate"]) {
		this.#policy = policy;
	}

	/** rows about the document of an earlier row */
	get repeats(): number {
		return this.skipped.length + this.conflicts.length;
	}

	/** @param key identifies the row's document; @param payload its content; @param place where it names the document */
	add(key: string, payload: string, row: Entry, place: () => Pick<Entry, "line" | "column">): void {
		const [document, content] = [hash("sha256", key, "binary"), hash("sha256", payload, "binary")];
		const known = this.#sent.get(document);
		if (known !== undefined && (this.#policy === "first" || known.content === content)) this.skipped.push(row.index);
		else if (known !== undefined && this.#policy === "error") {
			this.conflicts.push({ row: { ...row, ...place() }, earlier: known.row });
		} else {
			if (known !== undefined) this.skipped.push(known.row.index);
			this.#sent.set(document, { content, row });
		}
	}
}
