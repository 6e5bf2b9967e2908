import { createHash, type Hash } from "node:crypto";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason, usageError } from "../../errors.ts";
import { type InputFile, openInput } from "../../input-file.ts";
import { BLOCK_BYTES } from "../limits.ts";
import { excerpt } from "../../text/show.ts";

/** Identifies the content of a manifest, whatever its name is. */
export type Content = {
	/** of all bytes as they stand in the file, in hexadecimal */
	readonly sha256: string;
	readonly bytes: number;
	/** path of the private copy, where the manifest could be read once alone */
	readonly spooled: string | undefined;
};

/** The bytes of a manifest, which can be read a second time and are then certain to be the same. */
export type Source = {
	/**
	 * Every byte, in blocks of `BLOCK_BYTES` (the last one shorter). Remembers a hash of all bytes up to the end of each. The
	 * memory of a block is used again for the next one.
	 */
	first(): AsyncGenerator<Buffer>;
	/** the same blocks again, each compared before it is handed on. @throws CliError exit 8 */
	second(): AsyncGenerator<Buffer>;
	/** the content of the first reading; undefined until it is complete */
	content(): Content;
	close(): Promise<void>;
};

/**
 * Opens a manifest. What cannot be read twice (`-`, a pipe) is copied to a private file while it is read.
 *
 * @param name what messages call it
 * @throws CliError exit 2 when there is no such file or it cannot be read
 */
export async function openSource(
	path: string,
	stdin: AsyncIterable<Uint8Array>,
	temporaryFolder: string = tmpdir(),
	name: string = path,
): Promise<Source> {
	if (path === "-") return new BlockSource("standard input", stdin, undefined, temporaryFolder);
	const file = await openFile(path);
	return new BlockSource(name, file.handle === undefined ? file.bytes() : undefined, file, temporaryFolder);
}

async function openFile(path: string): Promise<InputFile> {
	try {
		return await openInput(path);
	} catch (error) {
		const [why, hint] = WHY_UNREADABLE.get(errorCode(error) ?? "") ?? [];
		throw unreadable(
			path,
			why ?? `cannot be read: ${reason(error)}`,
			hint ?? "Check the path of the manifest, or use - for standard input.",
			error,
		);
	}
}

const WHY_UNREADABLE: ReadonlyMap<string, readonly [string, string?]> = new Map([
	["ENOENT", ["does not exist"]],
	["EISDIR", ["is a directory", "Name the manifest file itself."]],
	["ENODEV", ["is not a regular file", "Use - to read standard input."]],
]);

function unreadable(path: string, why: string, hint: string, cause?: unknown): CliError {
	return usageError(`${excerpt(path)} ${why}`, hint, cause);
}

/** mkdtemp gives the folder mode 0700, so that other users can't read the copy. @throws CliError exit 7 where there is no room */
async function privateFolder(parent: string): Promise<string> {
	try {
		return await mkdtemp(join(parent, "ragtag-"));
	} catch (error) {
		throw new CliError(`the manifest can't be kept in the temporary folder: ${reason(error)}; nothing was sent`, {
			exit: Exit.storage,
			hint: "Free some space there, or name another folder with --state-dir.",
			cause: error,
		});
	}
}

class BlockSource implements Source {
	readonly #name: string;
	readonly #once: AsyncIterable<Uint8Array> | undefined;
	readonly #temporaryFolder: string;
	/** the private folder of the copy */
	#folder: string | undefined;
	#file: FileHandle | undefined;
	readonly #opened: InputFile | undefined;
	readonly #hashes: string[] = [];
	readonly #whole = createHash("sha256");
	#bytesRead = 0;
	#spooled: string | undefined;

	constructor(
		name: string,
		once: AsyncIterable<Uint8Array> | undefined,
		opened: InputFile | undefined,
		temporaryFolder: string,
	) {
		this.#name = name;
		this.#once = once;
		this.#opened = opened;
		this.#file = opened?.handle;
		this.#temporaryFolder = temporaryFolder;
	}

	async *first(): AsyncGenerator<Buffer> {
		this.#folder = this.#once === undefined ? undefined : await privateFolder(this.#temporaryFolder);
		this.#spooled = this.#folder === undefined ? undefined : join(this.#folder, "manifest");
		const spool = this.#spooled === undefined ? undefined : await open(this.#spooled, "wx+", 0o600);
		if (spool !== undefined) this.#file = spool;
		for await (const block of this.#blocks()) {
			this.#whole.update(block);
			this.#hashes.push(soFar(this.#whole));
			this.#bytesRead += block.length;
			if (spool !== undefined) await keep(spool, block);
			yield block;
		}
	}

	async *second(): AsyncGenerator<Buffer> {
		let index = 0;
		const whole = createHash("sha256");
		if (this.#file === undefined) return;
		for await (const block of fileBlocks(this.#file)) {
			whole.update(block);
			if (soFar(whole) !== this.#hashes[index++]) throw this.#foreign();
			yield block;
		}
		if (index !== this.#hashes.length) throw this.#foreign();
	}

	content(): Content {
		return { sha256: this.#whole.copy().digest("hex"), bytes: this.#bytesRead, spooled: this.#spooled };
	}

	async close(): Promise<void> {
		await this.#opened?.close();
		if (this.#file !== this.#opened?.handle) await this.#file?.close();
		if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
	}

	async *#blocks(): AsyncGenerator<Buffer> {
		try {
			if (this.#once !== undefined) yield* inBlocks(this.#once);
			else if (this.#file !== undefined) yield* fileBlocks(this.#file);
		} catch (error) {
			if (error instanceof CliError || errorCode(error) === undefined) throw error;
			throw unreadable(this.#name, `cannot be read: ${reason(error)}`, "Check the file and its storage.", error);
		}
	}

	#foreign(): CliError {
		return new CliError(`${excerpt(this.#name)} was changed after it was checked`, {
			exit: Exit.foreign,
			hint: "Leave the manifest alone while it is sent, and run the same command again.",
		});
	}
}

/** One piece of memory for all blocks: a collection comes too seldom to free a new one for each. */
async function* fileBlocks(file: FileHandle): AsyncGenerator<Buffer> {
	const block = Buffer.allocUnsafe(BLOCK_BYTES);
	let position = 0;
	for (;;) {
		let filled = 0;
		while (filled < BLOCK_BYTES) {
			const { bytesRead } = await file.read(block, filled, BLOCK_BYTES - filled, position);
			if (bytesRead === 0) break;
			filled += bytesRead;
			position += bytesRead;
		}
		if (filled > 0) yield block.subarray(0, filled);
		if (filled < BLOCK_BYTES) return;
	}
}

async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
	let parts: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of chunks) {
		let rest = chunk;
		while (size + rest.length >= BLOCK_BYTES) {
			const taken = BLOCK_BYTES - size;
			const part = rest.subarray(0, taken);
			yield parts.length === 0 ? Buffer.from(part.buffer, part.byteOffset, taken) : Buffer.concat([...parts, part]);
			rest = rest.subarray(taken);
			parts = [];
			size = 0;
		}
		if (rest.length > 0) parts.push(rest);
		size += rest.length;
	}
	if (size > 0) yield Buffer.concat(parts);
}

async function keep(spool: FileHandle, block: Buffer): Promise<void> {
	try {
		await spool.writeFile(block);
	} catch (error) {
		throw new CliError(`standard input cannot be kept in the temporary folder: ${reason(error)}`, {
			exit: Exit.storage,
			hint: "Free some space there, or give the manifest as a file.",
			cause: error,
		});
	}
}

/** A block is hashed once for itself and for the whole: the hash of all bytes up to its end says as much as its own. */
function soFar(whole: Hash): string {
	return whole.copy().digest("base64");
}
