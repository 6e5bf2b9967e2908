import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonArray, isJsonObject, type Metadata, metadataOf, metadataText, parseJson, textsOf } from "../../json.ts";
import { parseLoosely } from "../../not-json.ts";
import type { InexactValues } from "../../rest/types.ts";
import { keptTemporarily } from "../kept-temporarily.ts";
import { IdTable } from "./id-table.ts";

/** What a document has, as a list showed it. */
export type Held = {
	/** undefined where the list carries no `meta_fields` of it */
	readonly metadata: Metadata | undefined;
	/** what of it is not as the service gave it; absent where all is */
	readonly inexact?: InexactValues;
};

/** Bytes that are gathered before they are written. */
const BLOCK = 256 * 1024;

/**
 * The metadata of a whole dataset in a private file, found by id: memory holds where each document is, and no document.
 *
 * First all are added, then `end`, then they are read.
 */
export class StoredDocuments {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #table = new IdTable();
	#waiting: Buffer[] = [];
	#waitingBytes = 0;
	#end = 0;

	private constructor(folder: string, file: FileHandle) {
		this.#folder = folder;
		this.#file = file;
	}

	/** @param parent a folder that is the user's alone */
	static async create(parent: string): Promise<StoredDocuments> {
		return kept(async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Where a system lets an open file go, a program that is killed leaves nothing behind.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new StoredDocuments(folder, file);
		});
	}

	get size(): number {
		return this.#table.size;
	}

	/** @throws CliError exit 7 where it can't be kept */
	async add({ id, metadata, inexact }: { readonly id: string } & Held): Promise<void> {
		const parts = [JSON.stringify(id)];
		if (metadata !== undefined) parts.push(metadataText(metadata));
		if (inexact !== undefined) parts.push(metadataText(inexact));
		const text = `[${parts.join(",")}]`;
		const bytes = Buffer.from(text);
		this.#table.add(id, { offset: this.#end, length: bytes.length });
		this.#end += bytes.length;
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
		if (this.#waitingBytes >= BLOCK) await this.end();
	}

	/** Writes what waits. */
	async end(): Promise<void> {
		const bytes = Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#waitingBytes = 0;
		await kept(() => this.#file.appendFile(bytes));
	}

	async get(id: string): Promise<Held | undefined> {
		for (const { offset, length } of this.#table.candidates(id)) {
			const buffer = Buffer.allocUnsafe(length);
			const { bytesRead } = await kept(() => this.#file.read(buffer, 0, length, offset));
			const record = parseJson(buffer.toString("utf8", 0, bytesRead));
			const [found, metadata, inexact] = isJsonArray(record) ? record : [];
			if (found !== id) continue;
			const held = isJsonObject(metadata) ? metadataOf(metadata) : undefined;
			if (held === undefined || inexact === undefined) return { metadata: held };
			const texts = textsOf(inexact);
			// JSON has written null for NaN and the infinities.
			const values = Array.from(texts, ([key, text]) => [key, parseLoosely(text)] as const);
			return { metadata: new Map([...held, ...values]), inexact: texts };
		}
		return undefined;
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}
}

function kept<Result>(work: () => Promise<Result>): Promise<Result> {
	return keptTemporarily("what the documents have", work);
}
