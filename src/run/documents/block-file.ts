import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";

/** Bytes of a block. One read of the disk gives some hundred documents, which rows in the order of a list need next. */
const BLOCK_BYTES = 64 * 1024;

/** Bytes that wait for a write. */
const WRITE_BYTES = 4 * BLOCK_BYTES;

/** Bytes of blocks that all files of a `BlockCache` keep in memory: the documents of a dataset of some ten thousand. */
const CACHED_BYTES = 4 * 1024 * 1024;

/** Bytes that are read for one text, whose length is not known. Most are shorter. */
const TEXT_BYTES = 1024;

/** Follows each text of a file. No text has one in it. */
export const END = "\n";
const END_BYTE = 0x0a;

/** The most bytes of UTF-8 that one UTF-16 unit of a text takes. */
const MAX_UNIT_BYTES = 3;

/** A part of a file. Its bytes are in memory while the cache has room for them. */
type Block = {
	/** bytes of the file before it, and its own */
	readonly offset: number;
	readonly length: number;
	bytes: Buffer | undefined;
	loading: Promise<Buffer> | undefined;
};

/** The blocks in memory of several files, the oldest first. */
export class BlockCache {
	readonly #blocks = new Set<Block>();
	readonly #most: number;
	#size = 0;

	/** @param most bytes */
	constructor(most: number = CACHED_BYTES) {
		this.#most = most;
	}

	hasRoomFor(length: number): boolean {
		return this.#size + length <= this.#most;
	}

	/** Keeps the bytes of a block, in place of the oldest ones. */
	keep(block: Block, bytes: Buffer): void {
		if (block.bytes !== undefined || bytes.length > this.#most) return;
		for (const oldest of this.#blocks) {
			if (this.hasRoomFor(bytes.length)) break;
			this.drop(oldest);
		}
		block.bytes = bytes;
		this.#blocks.add(block);
		this.#size += bytes.length;
	}

	drop(block: Block): void {
		if (!this.#blocks.delete(block)) return;
		this.#size -= block.bytes?.length ?? 0;
		block.bytes = undefined;
	}
}

/** Texts in a private file, found by their place. Add all texts, call `end`, then read. */
export class BlockFile {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	readonly #cache: BlockCache;
	readonly #blocks: Block[] = [];
	/** the block that is being filled, and its bytes so far */
	#open = Buffer.alloc(0);
	#filled = 0;
	/** bytes in all blocks that are full */
	#size = 0;
	#waiting: Buffer[] = [];
	#waitingBytes = 0;
	/** the block that was read last */
	#last = -1;

	private constructor(folder: string, file: FileHandle, what: string, cache: BlockCache) {
		this.#folder = folder;
		this.#file = file;
		this.#what = what;
		this.#cache = cache;
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param what the stored data, in words for messages
	 */
	static async create(parent: string, what: string, cache: BlockCache): Promise<BlockFile> {
		return withTemporaryStorage(what, async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Most systems let an open file be removed. Then nothing is left on the disk if the program is killed.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new BlockFile(folder, file, what, cache);
		});
	}

	/** Whether so much waits for a write that `write` must be called before more is added. */
	get isFull(): boolean {
		return this.#waitingBytes >= WRITE_BYTES;
	}

	/**
	 * Adds a text, which never lies in two blocks.
	 *
	 * @returns where it begins in the file, in bytes
	 */
	add(text: string): number {
		const most = text.length * MAX_UNIT_BYTES + END.length;
		if (most > this.#open.length - this.#filled) {
			this.#closeBlock();
			this.#open = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, most));
		}
		const offset = this.#size + this.#filled;
		this.#filled += this.#open.write(text + END, this.#filled);
		return offset;
	}

	/** @throws CliError exit 7 if it can't be stored */
	async write(): Promise<void> {
		const bytes = Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#waitingBytes = 0;
		if (bytes.length > 0) await withTemporaryStorage(this.#what, () => this.#file.appendFile(bytes));
	}

	/** Writes everything. Nothing may be added afterwards. */
	async end(): Promise<void> {
		this.#closeBlock();
		this.#open = Buffer.alloc(0);
		await this.write();
	}

	/** The text that begins at that place; undefined if it must be read from the disk. */
	atHand(place: number): string | undefined {
		const at = this.#blockOf(place);
		const block = this.#blocks[at];
		if (block?.bytes === undefined) return undefined;
		this.#last = at;
		return textAt(block.bytes, place - block.offset);
	}

	/** @throws CliError exit 7 if it can't be read */
	async read(place: number): Promise<string> {
		const atHand = this.atHand(place);
		if (atHand !== undefined) return atHand;
		const at = this.#blockOf(place);
		const block = this.#blocks[at];
		if (block === undefined) throw new Error("a text is read before the end of its file was written");
		// Rows in the order of the list need the rest of the block next. In another order they rarely do.
		const isNear = Math.abs(at - this.#last) <= 1;
		this.#last = at;
		if (isNear) return textAt(await this.#load(block), place - block.offset);
		const rest = block.offset + block.length - place;
		const first = await this.#bytesOf(place, Math.min(rest, TEXT_BYTES));
		return textAt(first.includes(END_BYTE) ? first : await this.#bytesOf(place, rest), 0);
	}

	/** All texts in the order in which they were added, joined, in pieces of whole texts. */
	async *all(): AsyncGenerator<string> {
		for (const block of this.#blocks)
			yield (block.bytes ?? (await this.#bytesOf(block.offset, block.length))).toString();
	}

	async close(): Promise<void> {
		for (const block of this.#blocks) this.#cache.drop(block);
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}

	#closeBlock(): void {
		if (this.#filled === 0) return;
		// The rest of the memory is free where little was written, as at the end.
		const isWhole = this.#filled * 2 > this.#open.length;
		const bytes = isWhole ? this.#open.subarray(0, this.#filled) : Buffer.from(this.#open.subarray(0, this.#filled));
		const block: Block = { offset: this.#size, length: this.#filled, bytes: undefined, loading: undefined };
		this.#blocks.push(block);
		// The first blocks are kept: rows in the order of the list need them first.
		if (this.#cache.hasRoomFor(bytes.length)) this.#cache.keep(block, bytes);
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
		this.#size += bytes.length;
		this.#filled = 0;
	}

	/** The bytes of a block, read once for all rows that wait for it. */
	#load(block: Block): Promise<Buffer> {
		return (block.loading ??= this.#bytesOf(block.offset, block.length)
			.then((bytes) => {
				this.#cache.keep(block, bytes);
				return bytes;
			})
			.finally(() => (block.loading = undefined)));
	}

	async #bytesOf(offset: number, length: number): Promise<Buffer> {
		const buffer = Buffer.allocUnsafe(length);
		const { bytesRead } = await withTemporaryStorage(this.#what, () => this.#file.read(buffer, 0, length, offset));
		return buffer.subarray(0, bytesRead);
	}

	/** The number of the block that has that byte. */
	#blockOf(offset: number): number {
		let low = 0;
		let high = this.#blocks.length - 1;
		while (low < high) {
			const middle = Math.ceil((low + high) / 2);
			if ((this.#blocks[middle]?.offset ?? 0) <= offset) low = middle;
			else high = middle - 1;
		}
		return low;
	}
}

function textAt(bytes: Buffer, start: number): string {
	return bytes.toString("utf8", start, bytes.indexOf(END_BYTE, start));
}
