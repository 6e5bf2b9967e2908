import { readSync } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { parseLoosely } from "../../json/parse-json.ts";
import { isJsonArray, isJsonObject, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import type { Document } from "../../rest/types.ts";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable, SeenIds, SHOWN } from "./id-table.ts";

/** The metadata of a document, as a list showed it. */
export type RemoteDocument = Pick<Document, "metadata" | "inexact"> &
	Partial<Pick<Document, "name" | "size">> & {
		/** no metadata was shown, and that is doubted: see `Searches` */
		readonly isDoubted?: true | undefined;
	};

/** A document with its id and its name. */
export type Named = RemoteDocument & Pick<Document, "id" | "name" | "size">;

/** After a record. No JSON text has it. */
const END = "\n";

/** Bytes of which each record takes a multiple, so that 32 bits tell where one begins in a file of 32 GB. */
const UNIT = 8;

/** Bytes that are read of a record at first: most have fewer. */
const FIRST_READ = 512;

/** Characters that wait for a write. */
const WRITE_LENGTH = 256 * 1024;

/**
 * The documents of a whole dataset in a private file, found by their ids, or by the part of their names that the service
 * compares: a million of them need 20 MB of memory. Add all documents, call `end`, then read.
 *
 * A record is a JSON text: the place of the earlier record of its key, the id, the name, the size, the metadata, the exact digits
 * of the numbers in it, and whether it is doubted. A place is counted in units from 1 on.
 */
export class StoredDocuments {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	readonly #nameKey: ((name: string) => string) | undefined;
	/** the ids that the list has shown */
	readonly ids: SeenIds;
	/** the place of the latest record of a key */
	readonly #places = new IdTable();
	/** the place after the last record */
	#end = 1;
	#unwritten = "";

	private constructor(folder: string, file: FileHandle, nameKey: ((name: string) => string) | undefined) {
		this.#folder = folder;
		this.#file = file;
		this.#what = whatIn(nameKey);
		this.#nameKey = nameKey;
		this.ids = new SeenIds(nameKey === undefined ? this.#places : undefined);
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param nameKey undefined where documents are found by their ids
	 * @throws CliError exit 7 where nothing can be stored
	 */
	static create(parent: string, nameKey?: (name: string) => string): Promise<StoredDocuments> {
		return withTemporaryStorage(whatIn(nameKey), async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Most systems let an open file be removed. Then nothing is left on the disk if the program is killed.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new StoredDocuments(folder, file, nameKey);
		});
	}

	/**
	 * @returns a promise only where it must be awaited before more is added
	 * @throws CliError exit 7 if it can't be stored
	 */
	add({ id, name, size, metadata, inexact, isDoubted }: Named): Promise<void> | undefined {
		const before = this.#places.set(this.#nameKey?.(name) ?? id, this.#end);
		const named = JSON.stringify([before === SHOWN ? 0 : before, id, name, size]).slice(0, -1);
		const held = metadata && metadataText(metadata, inexact);
		// A list without the member hides metadata on purpose.
		const isInDoubt = metadata !== undefined && isDoubted === true;
		const record = `${named},${held ?? null},${inexact ? metadataText(inexact) : null},${isInDoubt}]${END}`;
		const bytes = Buffer.byteLength(record);
		const units = Math.ceil(bytes / UNIT);
		this.#end += units;
		this.#unwritten += " ".repeat(units * UNIT - bytes) + record;
		return this.#unwritten.length >= WRITE_LENGTH ? this.end() : undefined;
	}

	/** Writes everything. */
	async end(): Promise<void> {
		const text = this.#unwritten;
		this.#unwritten = "";
		if (text !== "") await withTemporaryStorage(this.#what, () => this.#file.appendFile(text));
	}

	async get(id: string): Promise<Named | undefined> {
		return (await this.#found(id, (document) => document.id === id)).at(-1);
	}

	/** Every document whose name has the same key. */
	async named(name: string): Promise<readonly Named[]> {
		const key = this.#nameKey?.(name) ?? name;
		return (await this.#found(key, (document) => this.#nameKey?.(document.name) === key)).toReversed();
	}

	/** The id and the name of each document, in the order of the list. */
	async *all(): AsyncGenerator<Pick<Named, "id" | "name">> {
		for (let place = 1; place < this.#end;) {
			const { document, next } = await this.#read(place);
			yield document;
			place = next;
		}
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}

	/** The documents of that key, the latest first. Other keys may have the same place. */
	async #found(key: string, isMeant: (document: Named) => boolean): Promise<Named[]> {
		const found: Named[] = [];
		for (let place = this.#places.get(key); place !== 0;) {
			const { document, earlier } = await this.#read(place);
			if (isMeant(document)) found.push(document);
			place = earlier;
		}
		return found;
	}

	/** A record, and the place of the next one. A call takes the system some microseconds; in a thread it would take ten times as long. */
	#read(place: number) {
		return withTemporaryStorage(this.#what, async () => {
			for (let length = FIRST_READ; ; length *= 4) {
				const bytes = Buffer.allocUnsafe(length);
				const count = readSync(this.#file.fd, bytes, 0, length, (place - 1) * UNIT);
				const end = bytes.subarray(0, count).indexOf(END);
				if (end !== -1) {
					return { next: place + Math.ceil((end + 1) / UNIT), ...recordOf(bytes.toString("utf8", 0, end)) };
				}
				if (count < length)
					throw new CliError(`${this.#what} can't be read: their temporary file was cut off`, { exit: Exit.storage });
			}
		});
	}
}

function whatIn(nameKey: unknown): string {
	return nameKey === undefined ? "what the documents have" : "the names of the documents";
}

function recordOf(text: string): { readonly earlier: number; readonly document: Named } {
	// The digits of a value that came rounded may be NaN.
	const fields = parseLoosely(text);
	const [earlier, id, name, size, metadata, inexact, isDoubted] = isJsonArray(fields) ? fields : [];
	const document = {
		id: typeof id === "string" ? id : "",
		name: typeof name === "string" ? name : "",
		size: typeof size === "number" ? size : undefined,
		metadata: isJsonObject(metadata) ? metadataOf(metadata) : undefined,
		inexact: isJsonObject(inexact) ? textsOf(inexact) : undefined,
		isDoubted: isDoubted === true ? isDoubted : undefined,
	};
	return { earlier: Number(earlier), document };
}
