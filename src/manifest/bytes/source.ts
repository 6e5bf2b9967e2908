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
export type Source = ReturnType<typeof sourceOf>;

/** A file of rows, in messages. */
type Named = {
	readonly name: string;
	readonly what: "manifest" | "plan";
	/** the folder for a copy of what can be read once alone */
	readonly temporaryFolder: string;
};

/**
 * Opens a manifest or a plan. Standard input and pipes can't be read twice: they are copied to a private file while they are
 * read.
 *
 * @throws CliError exit 2 when there is no such file or it cannot be read
 */
export async function openSource(
	path: string,
	stdin: AsyncIterable<Uint8Array>,
	{
		name = path,
		what = "manifest",
		temporaryFolder = tmpdir(),
	}: { [Part in keyof Named]?: Named[Part] | undefined } = {},
): Promise<Source> {
	if (path === "-") return sourceOf({ name: "standard input", what, temporaryFolder }, stdin, undefined);
	const file = await openFile(path, what);
	return sourceOf({ name, what, temporaryFolder }, file.handle === undefined ? file.bytes() : undefined, file);
}

async function openFile(path: string, what: Named["what"]): Promise<InputFile> {
	try {
		return await openInput(path);
	} catch (error) {
		const [why, hint] = WHY_UNREADABLE.get(errorCode(error) ?? "") ?? [];
		throw unreadable(
			path,
			why ?? `cannot be read: ${reason(error)}`,
			hint ?? `Check the path of the ${what}, or use - for standard input.`,
			error,
		);
	}
}

const WHY_UNREADABLE: ReadonlyMap<string, readonly [string, string?]> = new Map([
	["ENOENT", ["does not exist"]],
	["EISDIR", ["is a directory", "Name the file itself."]],
	["ENODEV", ["is not a regular file", "Use - to read standard input."]],
]);

function unreadable(path: string, why: string, hint: string, cause?: unknown): CliError {
	return usageError(`${excerpt(path)} ${why}`, hint, cause);
}

function sourceOf(
	{ name, what, temporaryFolder }: Named,
	once: AsyncIterable<Uint8Array> | undefined,
	opened: InputFile | undefined,
) {
	/** the private folder of the copy */
	let folder: string | undefined;
	let spooled: string | undefined;
	let file: FileHandle | undefined = opened?.handle;
	const hashes: string[] = [];
	const all = createHash("sha256");
	let bytesRead = 0;

	const changed = (): CliError =>
		new CliError(`${excerpt(name)} was changed after it was checked`, {
			exit: Exit.foreign,
			hint: `Leave the ${what} alone while it is sent, and run the same command again.`,
		});
	async function* blocks(): AsyncGenerator<Buffer> {
		try {
			if (once !== undefined) yield* inBlocks(once);
			else if (file !== undefined) yield* fileBlocks(file);
		} catch (error) {
			if (error instanceof CliError || errorCode(error) === undefined) throw error;
			throw unreadable(name, `cannot be read: ${reason(error)}`, "Check the file and its storage.", error);
		}
	}
	return {
		/**
		 * Every byte, in blocks of `BLOCK_BYTES` (the last one shorter). Remembers a hash of all bytes up to the end of each. The
		 * memory of a block is used again for the next one.
		 */
		async *first(): AsyncGenerator<Buffer> {
			let spool: FileHandle | undefined;
			if (once !== undefined) {
				// mkdtemp gives the folder mode 0700, so that other users can't read the copy.
				folder = await kept(what, mkdtemp(join(temporaryFolder, "ragtag-")));
				spooled = join(folder, "manifest");
				file = spool = await kept(what, open(spooled, "wx+", 0o600));
			}
			for await (const block of blocks()) {
				all.update(block);
				hashes.push(soFar(all));
				bytesRead += block.length;
				if (spool !== undefined) await kept(what, spool.writeFile(block));
				yield block;
			}
		},
		/** The same blocks again, each compared before it is handed on. @throws CliError exit 8 */
		async *second(): AsyncGenerator<Buffer> {
			let index = 0;
			const whole = createHash("sha256");
			if (file === undefined) return;
			for await (const block of fileBlocks(file)) {
				whole.update(block);
				if (soFar(whole) !== hashes[index++]) throw changed();
				yield block;
			}
			if (index !== hashes.length) throw changed();
		},
		/** The content of the first reading, once that is complete. */
		content: (): Content => ({ sha256: all.copy().digest("hex"), bytes: bytesRead, spooled }),
		async close(): Promise<void> {
			await opened?.[Symbol.asyncDispose]();
			if (file !== opened?.handle) await file?.close();
			if (folder !== undefined) await rm(folder, { recursive: true, force: true });
		},
	};
}

/** A step of the copy of what can be read once alone. @throws CliError exit 7 where there is no room */
async function kept<Result>(what: Named["what"], step: Promise<Result>): Promise<Result> {
	try {
		return await step;
	} catch (error) {
		throw new CliError(`the ${what} can't be kept in the temporary folder: ${reason(error)}; nothing was sent`, {
			exit: Exit.storage,
			hint: `Free some space there, give the ${what} as a file, or name another folder with --state-dir.`,
			cause: error,
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

/** A block is hashed once for itself and for the whole: the hash of all bytes up to its end says as much as its own. */
function soFar(whole: Hash): string {
	return whole.copy().digest("base64");
}
