import { positionIn } from "./fault.ts";
import { PURPOSES } from "./purposes.ts";
import { readBatches, type OpenManifest } from "./reading.ts";
import { idKey } from "../text/names.ts";
import { Repeats, type RowSet } from "./rows/repeats.ts";
import type { ParsedRow, RawRow, RowParser } from "./rows/row-reader.ts";
import type { CheckDependencies, ManifestOptions } from "./types.ts";
import { hash } from "node:crypto";
import { Records } from "./rows/spill.ts";

type NameFolding = NonNullable<CheckDependencies["nameFolding"]>;

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
	readonly #repeats: Repeats;
	readonly #exact: Duplicates;
	/** the duplicates by folded names, as some services compare them */
	readonly #folded: Duplicates | undefined;
	#isFolded = false;

	constructor(manifest: OpenManifest, { signal, nameFolding }: Pick<CheckDependencies, "signal" | "nameFolding">) {
		const folder = (): Promise<string> => manifest.source.scratch();
		this.#manifest = manifest;
		this.#signal = signal;
		this.#folding = PURPOSES[manifest.options.purpose].subject.hasFile ? nameFolding : undefined;
		this.#repeats = new Repeats(folder);
		this.#exact = new Duplicates(folder, "keys");
		this.#folded = this.#folding && new Duplicates(folder, "folded-keys");
	}

	/** Whether the decisions compare names as a service does that ignores letter case. Known once they were made. */
	get isFolded(): boolean {
		return this.#isFolded;
	}

	/** Whether `makeRoom` must be awaited before the next `note`. */
	get isFull(): boolean {
		return this.#repeats.isFull;
	}

	makeRoom(): Promise<void> {
		return this.#repeats.makeRoom();
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
	 * The decision on each row that is not the only one about its document.
	 *
	 * @param problems of the manifest so far
	 * @param isFatal whether the manifest has a problem that makes every row uncertain
	 * @throws CliError exit 8 when the manifest was changed while it was checked
	 */
	async *decisions(problems: number, isFatal: boolean): AsyncGenerator<DuplicateDecision> {
		const suspects = await this.#repeats.suspects();
		if (suspects === undefined) return;
		await this.#compare(suspects);
		const decisive = await this.#decisive(problems, isFatal);
		this.#isFolded = decisive === this.#folded;
		yield* decisive.decisions(this.#manifest.options.onDuplicate);
	}

	close(): void {
		this.#repeats.close();
		this.#exact.close();
		this.#folded?.close();
	}

	/** Reads up to the last suspect alone: what ended the first reading may stand after it. */
	async #compare(suspects: RowSet): Promise<void> {
		const { source, options } = this.#manifest;
		let index = 0;
		for await (const { reader, rows } of readBatches(source.second(), options)) {
			this.#signal?.throwIfAborted();
			for (const raw of rows) {
				if (suspects.has(index)) await this.#add(reader, raw, index);
				if (index === suspects.last) return;
				index++;
			}
		}
	}

	async #add(reader: RowParser, raw: RawRow, index: number): Promise<void> {
		const { validator } = this.#manifest;
		const parsed = reader.parse(raw);
		validator.applyOptions(parsed);
		const { key, payload } = validator.identity(parsed, reader.format);
		const entry = { index, ...this.#place(reader, raw, parsed) };
		for (const each of [this.#exact, this.#folded]) if (each?.isFull === true) await each.makeRoom();
		this.#exact.add(key, payload, entry);
		this.#folded?.add(this.#folding?.fold(key) ?? key, payload, entry);
	}

	#place(reader: RowParser, raw: RawRow, { idOffset }: ParsedRow): { line: number; column: number } {
		const field = PURPOSES[this.#manifest.options.purpose].subject.required;
		const known = field === "document_id" ? idOffset : undefined;
		return positionIn(raw.text, known ?? reader.offsetOf(raw, field), raw.line, raw.column);
	}

	/** The service is asked how it compares names only if that makes a difference. */
	async #decisive(problems: number, isFatal: boolean): Promise<Duplicates> {
		const [exact, folded] = [this.#exact, this.#folded];
		if (folded === undefined || isFatal || (await folded.count()) === (await exact.count())) return exact;
		return (await this.#folding?.applies(problems)) === true ? folded : exact;
	}
}

/** Key hash, payload hash, index (6 bytes), line (6 bytes), column (4 bytes). */
const RECORD = 48;
const RECORD_WORDS = RECORD / Uint32Array.BYTES_PER_ELEMENT;
const HASH = 16;

export type Entry = { readonly index: number; readonly line: number; readonly column: number };

/** `conflict`: a row that gives the same document other values than an earlier row. */
export type DuplicateDecision =
	| { readonly kind: "skip"; readonly row: Entry }
	| { readonly kind: "conflict"; readonly row: Entry; readonly earlier: Entry };

/** Decides on rows that are about the same document, in memory that does not grow with their number. */
class Duplicates extends Records {
	readonly #buffer = bytesOf(this.words);

	/**
	 * @param folder makes the private folder, called when memory does not suffice
	 * @param file name of the file in it
	 */
	constructor(folder: () => Promise<string>, file: string) {
		super(RECORD_WORDS, folder, file);
	}

	/** The number of rows that repeat the document of an earlier row. */
	async count(): Promise<number> {
		let count = 0;
		for await (const _ of this.decisions("first")) count++;
		return count;
	}

	/** @param key identifies the row's document; @param payload its content */
	add(key: string, payload: string, { index, line, column }: Entry): void {
		const at = this.place() * Uint32Array.BYTES_PER_ELEMENT;
		const buffer = this.#buffer;
		buffer.write(hash("sha256", key, "binary"), at, HASH, "latin1");
		buffer.write(hash("sha256", payload, "binary"), at + HASH, HASH, "latin1");
		buffer.writeUIntBE(index, at + 32, 6);
		buffer.writeUIntBE(line, at + 38, 6);
		buffer.writeUInt32BE(column, at + 44);
	}

	/** The decision on rows that are not the only ones about their document. */
	async *decisions(policy: ManifestOptions["onDuplicate"]): AsyncGenerator<DuplicateDecision> {
		for await (const records of this.parts()) yield* decisionsOf(bytesOf(records), policy);
	}
}

function bytesOf(records: Uint32Array): Buffer {
	return Buffer.from(records.buffer, records.byteOffset, records.byteLength);
}

function* decisionsOf(records: Buffer, policy: ManifestOptions["onDuplicate"]): Generator<DuplicateDecision> {
	const chosen = new Map<string, number>();
	for (let at = 0; at < records.length; at += RECORD) {
		const key = records.toString("latin1", at, at + HASH);
		const earlier = chosen.get(key);
		if (earlier === undefined) chosen.set(key, at);
		else if (policy === "first" || isSamePayload(records, earlier, at))
			yield { kind: "skip", row: entryAt(records, at) };
		else if (policy === "last") {
			chosen.set(key, at);
			yield { kind: "skip", row: entryAt(records, earlier) };
		} else yield { kind: "conflict", row: entryAt(records, at), earlier: entryAt(records, earlier) };
	}
}

function isSamePayload(records: Buffer, left: number, right: number): boolean {
	return records.compare(records, left + HASH, left + 2 * HASH, right + HASH, right + 2 * HASH) === 0;
}

function entryAt(records: Buffer, at: number): Entry {
	return {
		index: records.readUIntBE(at + 32, 6),
		line: records.readUIntBE(at + 38, 6),
		column: records.readUInt32BE(at + 44),
	};
}
