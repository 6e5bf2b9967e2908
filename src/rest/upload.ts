import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { reason } from "../errors.ts";
import { show } from "../text/show.ts";
import { RestError } from "./errors.ts";
import { fileFrame } from "./part-form.ts";
import type { ErrorContext } from "./error-context.ts";
import type { StoredFile, UploadFile } from "./types.ts";

export type OpenUpload = {
	readonly type: string;
	/** bytes of the whole body */
	readonly length: number;
	readonly body: Readable;
	close(): Promise<void>;
};

const chunkSize = 64 * 1024;

/**
 * The body of an upload, read from disk as the service takes it.
 *
 * A file that changes meanwhile breaks the body off before its last boundary, so that no half of it is stored.
 */
export async function openUpload(file: UploadFile, boundary: string): Promise<OpenUpload> {
	const handle = await openFile(file);
	try {
		const state = await handle.stat();
		if (!state.isFile()) throw refusal("FILE_UNREADABLE", `${show(file.name)} is not a file`);
		if (state.size !== file.size) throw changed(file);
		const { head, tail } = fileFrame(file.name, boundary);
		const parts = read(handle, file, { head, tail, modified: state.mtimeMs });
		return {
			type: `multipart/form-data; boundary=${boundary}`,
			length: head.length + file.size + tail.length,
			body: Readable.from(parts, { objectMode: false, highWaterMark: chunkSize }),
			close: () => handle.close(),
		};
	} catch (error) {
		await handle.close();
		throw error;
	}
}

async function* read(
	handle: FileHandle,
	file: UploadFile,
	frame: { readonly head: Buffer; readonly tail: Buffer; readonly modified: number },
): AsyncGenerator<Buffer> {
	yield frame.head;
	for (let at = 0; at < file.size;) {
		const chunk = Buffer.allocUnsafe(Math.min(chunkSize, file.size - at));
		const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
		if (bytesRead === 0) throw changed(file);
		at += bytesRead;
		yield chunk.subarray(0, bytesRead);
	}
	const state = await handle.stat();
	if (state.size !== file.size || state.mtimeMs !== frame.modified) throw changed(file);
	yield frame.tail;
}

async function openFile(file: UploadFile): Promise<FileHandle> {
	try {
		// Non-blocking, or a named pipe without a writer would hold the program up for ever.
		return await open(file.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	} catch (error) {
		throw refusal("FILE_UNREADABLE", `${show(file.name)} can't be read: ${reason(error)}`);
	}
}

function changed(file: UploadFile): RestError {
	return refusal("FILE_CHANGED", `${show(file.name)} changed while it was read; it was not uploaded`);
}

function refusal(code: string, message: string): RestError {
	return new RestError(message, { kind: "rejected", code });
}

/** The stored file, if all of its bytes were. @throws RestError `SIZE_MISMATCH` */
export function sameSize(stored: StoredFile, file: UploadFile, place: ErrorContext): StoredFile {
	if (stored.size === undefined || stored.size === file.size) return stored;
	const message = `${place.host} stored ${stored.size} of the ${file.size} bytes of ${show(file.name)} as ${show(stored.id)}`;
	throw new RestError(message, { kind: "rejected", code: "SIZE_MISMATCH" });
}
