import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, type Stats } from "node:fs";
import { type FileHandle, open, stat as statOf } from "node:fs/promises";
import { Socket } from "node:net";

/** Windows has neither named pipes in folders nor this flag. */
const WITHOUT_BLOCKING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** 64 KiB, as Node's streams read. */
const CHUNK_BYTES = 64 * 1024;

/** A file that the user named, open for reading, or the reading end of a pipe such as `<(command)`. Disposing of it closes it. */
export type InputFile = AsyncDisposable & {
	/** of the open file; the path may name another file by now */
	readonly stat: Stats;
	/** for reading at positions; undefined for a pipe */
	readonly handle: FileHandle | undefined;
	/** every byte, once */
	bytes(): AsyncIterable<Buffer>;
};

/**
 * Opens a file without blocking. Opening a pipe without a writer would block a thread, and with it the end of the program,
 * for ever. The event loop waits for its bytes instead.
 *
 * @throws Error of the system; with code `EISDIR` for a folder, `ENODEV` for anything else than a file or a pipe
 */
export async function openInput(path: string): Promise<InputFile> {
	if ((await statOf(path)).isFIFO()) return openPipe(path);
	const handle = await open(path, WITHOUT_BLOCKING);
	let isKept = false;
	try {
		const stat = await handle.stat();
		if (stat.isFile()) {
			isKept = true;
			return { stat, handle, bytes: () => bytesOf(handle), [Symbol.asyncDispose]: () => handle.close() };
		}
		if (stat.isFIFO()) throw replaced();
		throw stat.isDirectory() ? failure("EISDIR", "it is a directory") : failure("ENODEV", "it is no regular file");
	} finally {
		if (!isKept) await handle.close();
	}
}

/**
 * All bytes of a file or pipe.
 *
 * @param most bytes that it may have
 * @throws Error of the system; with code `EFBIG` for more
 */
export async function readInput(path: string, most: number): Promise<Buffer> {
	await using file = await openInput(path);
	return await readBytes(file.bytes(), most);
}

/** The same of what is open already. */
export async function readBytes(bytes: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of bytes) {
		size += chunk.length;
		// The size in `stat` says little: `<(command)` has none, and a file may grow.
		if (size > most) throw failure("EFBIG", `it is longer than ${most} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/**
 * The SHA-256 of a file's content in hexadecimal digits. The file is read in pieces, so memory does not grow with it.
 *
 * @throws Error of the system where it can't be read
 */
export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
	await using file = await openInput(path);
	const digest = createHash("sha256");
	for await (const bytes of file.bytes()) {
		signal?.throwIfAborted();
		digest.update(bytes);
	}
	return digest.digest("hex");
}

async function* bytesOf(handle: FileHandle): AsyncGenerator<Buffer> {
	for (;;) {
		const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES), position: null });
		if (bytesRead === 0) return;
		yield buffer.subarray(0, bytesRead);
	}
}

/**
 * Opens a pipe, once. Linux does not report the end of a named pipe to a reader that opens it after its last writer closed it
 * (`fifo_open` and `pipe_poll` in fs/pipe.c): after a second opening, a run waited for ever where the writer was fast.
 */
function openPipe(path: string): InputFile {
	const fd = openSync(path, WITHOUT_BLOCKING);
	const stat = fstatSync(fd);
	if (!stat.isFIFO()) {
		closeSync(fd);
		throw replaced();
	}
	const socket = new Socket({ fd, readable: true, writable: false });
	return {
		stat,
		handle: undefined,
		bytes: () => socket,
		[Symbol.asyncDispose]: async () => void socket.destroy(),
	};
}

function replaced(): Error {
	return failure("EAGAIN", "it was replaced while it was opened");
}

function failure(code: string, message: string): Error {
	return Object.assign(new Error(message), { code });
}
