import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { BodyForm } from "../body-forms.ts";
import { reason } from "../errors.ts";
import { type Metadata, metadataText } from "../json/values.ts";
import { show } from "../text/show.ts";
import { rejected, type RestError } from "./errors.ts";
import type { UploadFile } from "./types.ts";

/** The boundary of one multipart body: 128 random bits, so that no value or file can be written to contain it. */
function newBoundary(): string {
	return `ragtag-${randomBytes(16).toString("hex")}`;
}

/** The content type and the text of the body of an update. */
type UpdateBody = { readonly type: string; readonly body: string };

const WRITERS: Readonly<Record<BodyForm, (payload: string) => UpdateBody>> = {
	multipart: onePart,
	plain: (payload) => ({ type: "multipart/form-data", body: payload }),
	json: (payload) => ({ type: "application/json", body: payload }),
};

/** The body of a metadata update in one of its forms. */
export function updateBody(form: BodyForm, metadata: Metadata): UpdateBody {
	return WRITERS[form](`{"meta_fields":${metadataText(metadata)}}`);
}

/**
 * The documented form of an update: one part with an empty field name and an empty file name.
 *
 * `FormData` would leave the empty file name out.
 */
function onePart(payload: string): UpdateBody {
	const boundary = newBoundary();
	return {
		type: `multipart/form-data; boundary=${boundary}`,
		body:
			`--${boundary}\r\nContent-Disposition: form-data; name=""; filename=""\r\n` +
			`Content-Type: application/json\r\n\r\n${payload}\r\n--${boundary}--\r\n`,
	};
}

/** The body of an upload, with its file open. */
type UploadBody = {
	/** content type */
	readonly type: string;
	/** bytes of the whole body */
	readonly length: number;
	readonly body: Readable;
	close(): Promise<void>;
};

/** 64 KiB, as Node's streams read. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The body of an upload, read from disk as the service takes it.
 *
 * @param onBytes called after each piece of the file
 *
 * If the file changes meanwhile, the body ends before its last boundary, so that no service stores half of it.
 */
export async function openUpload(
	file: UploadFile,
	onBytes: (bytes: number) => void = () => undefined,
): Promise<UploadBody> {
	const handle = await openFile(file);
	try {
		const { size, mtimeMs } = await fileState(handle, file);
		const boundary = newBoundary();
		const { head, tail } = fileFrame(file.name, boundary);
		const parts = async function* (): AsyncGenerator<Buffer> {
			yield head;
			for (let at = 0; at < size;) {
				const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
				const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
				if (bytesRead === 0) throw changed(file);
				at += bytesRead;
				yield chunk.subarray(0, bytesRead);
				// The next piece is asked for when this one is on its way.
				onBytes(bytesRead);
			}
			const state = await handle.stat();
			if (state.size !== size || state.mtimeMs !== mtimeMs) throw changed(file);
			yield tail;
		};
		return {
			type: `multipart/form-data; boundary=${boundary}`,
			length: head.length + size + tail.length,
			body: Readable.from(parts(), { objectMode: false, highWaterMark: CHUNK_BYTES }),
			close: () => handle.close(),
		};
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/** @throws RestError where it is no longer the file that was planned, or none that can be read whole */
async function fileState(handle: FileHandle, file: UploadFile): Promise<Stats> {
	const state = await handle.stat();
	if (!state.isFile()) throw rejected("FILE_UNREADABLE", `${show(file.name)} is not a file`);
	if (state.size !== file.size) throw changed(file);
	// Files of /proc say that they have 0 bytes, and are no files on a disk.
	if ((await handle.read(Buffer.alloc(1), 0, 1, file.size)).bytesRead > 0) {
		throw rejected("FILE_UNREADABLE", `${show(file.name)} has more bytes than its size of ${file.size} says`);
	}
	return state;
}

async function openFile(file: UploadFile): Promise<FileHandle> {
	try {
		// Non-blocking: a named pipe without a writer would stop the program for ever.
		return await open(file.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	} catch (error) {
		throw rejected("FILE_UNREADABLE", `${show(file.name)} can't be read: ${reason(error)}`);
	}
}

/** The bytes before and after those of an uploaded file. */
function fileFrame(name: string, boundary: string): { readonly head: Buffer; readonly tail: Buffer } {
	const head =
		`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escapeName(name)}"\r\n` +
		"Content-Type: application/octet-stream\r\n\r\n";
	return { head: Buffer.from(head), tail: Buffer.from(`\r\n--${boundary}--\r\n`) };
}

/**
 * A file name as a quoted string of RFC 9110. Browsers write a quote mark as `%22`, and only some servers decode that:
 * werkzeug from 2.3 on does (`parse_options_header` in src/werkzeug/http.py), @fastify/busboy and Go's mime package do not.
 * All three remove a backslash before a quote mark. A line end would end the header field, so it is always escaped.
 */
function escapeName(name: string): string {
	return name
		.replaceAll(/[\\"]/g, String.raw`\$&`)
		.replaceAll("\r", "%0D")
		.replaceAll("\n", "%0A");
}

function changed(file: UploadFile): RestError {
	return rejected("FILE_CHANGED", `${show(file.name)} changed while it was read; it was not uploaded`);
}
