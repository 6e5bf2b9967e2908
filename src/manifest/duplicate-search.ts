import { hash } from "node:crypto";
import { idKey } from "../text/names.ts";
import { positionIn } from "./fault.ts";
import { PURPOSES } from "./purposes.ts";
import { readBatches, type OpenManifest } from "./reading.ts";
import type { ParsedRow, RawRow, RowParser } from "./rows/row-reader.ts";
import { Repeats } from "./rows/repeats.ts";
import type { CheckDependencies, ManifestOptions } from "./types.ts";

type NameFolding = NonNullable<CheckDependencies["nameFolding"]>;

/** A row, and where it names its document. */
type Entry = { readonly index: number; readonly line: number; readonly column: number };

/** The rows that are not the only ones about their document. */
type Decisions = {
	/** positions of rows that are left out */
	readonly skipped: readonly number[];
	/** rows that give a document other values than an earlier row, in their order */
	readonly conflicts: readonly { readonly row: Entry; readonly earlierLine: number }[];
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
		await this.#read(suspects, (key, payload, row) => {
			exact.add(key, payload, row);
			if (this.#folding !== undefined) folded.add(this.#folding.fold(key), payload, row);
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
					const { key, payload } = validator.identity(parsed, reader.format);
					left -= 1;
					add(key, payload, { index, ...this.#place(reader, raw, parsed) });
				}
				if (left === 0) return;
				index++;
			}
		}
	}

	#place(reader: RowParser, raw: RawRow, { idOffset }: ParsedRow): { line: number; column: number } {
		const field = PURPOSES[this.#manifest.options.purpose].subject.required;
		const known = field === "document_id" ? idOffset : undefined;
		return positionIn(raw.text, known ?? reader.offsetOf(raw, field), raw.line, raw.column);
	}
}

/** Decides on rows that are about the same document. Keys and contents are held as hashes, in some 130 bytes a document. */
class Duplicates implements Decisions {
	readonly skipped: number[] = [];
	readonly conflicts: { readonly row: Entry; readonly earlierLine: number }[] = [];
	readonly #policy: ManifestOptions["onDuplicate"];
	/** the place of each document in the lists of the contents, positions and lines of the rows that are sent */
	readonly #documents = new Map<string, number>();
	readonly #contents: string[] = [];
	readonly #indexes: number[] = [];
	readonly #lines: number[] = [];
	/** of one hash: a buffer for each would be most of the work */
	readonly #bytes = Buffer.alloc(32);

	constructor(policy: ManifestOptions["onDuplicate"]) {
		this.#policy = policy;
	}

	/** rows about the document of an earlier row */
	get repeats(): number {
		return this.skipped.length + this.conflicts.length;
	}

	/** @param key identifies the row's document; @param payload its content */
	add(key: string, payload: string, row: Entry): void {
		const [document, content] = [this.#hash(key), this.#hash(payload)];
		const known = this.#documents.get(document);
		if (known !== undefined && (this.#policy === "first" || this.#contents[known] === content)) {
			this.skipped.push(row.index);
		} else if (known !== undefined && this.#policy === "error") {
			this.conflicts.push({ row, earlierLine: this.#lines[known] ?? 0 });
		} else {
			if (known !== undefined) this.skipped.push(this.#indexes[known] ?? 0);
			const place = known ?? this.#contents.length;
			this.#documents.set(document, place);
			this.#contents[place] = content;
			this.#indexes[place] = row.index;
			this.#lines[place] = row.line;
		}
	}

	/** 128 bits, as a text of its own: the part of a longer one would keep that in memory. */
	#hash(text: string): string {
		this.#bytes.write(hash("sha256", text, "binary"), "latin1");
		return this.#bytes.toString("latin1", 0, 16);
	}
}
