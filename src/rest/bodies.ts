import { randomBytes } from "node:crypto";
import type { BodyForm } from "../body-forms.ts";
import { type Metadata, metadataText } from "../json/values.ts";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { reason } from "../errors.ts";
import { show } from "../text/show.ts";
import { RestError, type ErrorContext } from "./errors.ts";
import type { UploadFile, StoredFile } from "./types.ts";

/** Makes boundaries of multipart bodies: 128 random bits each, so that no value can be written to hold one. */
export type BoundarySource = () => string;

export const randomBoundary: BoundarySource = () => `ragtag-${randomBytes(16).toString("hex")}`;

/** The content type and the text of one body. */
export type Form = { readonly type: string; readonly body: string };

/**
 * The documented form of an update: one part with an empty field name and an empty file name.
 *
 * Built by hand because `FormData` leaves the empty file name out.
 */
export function partForm(payload: string, boundary: string): Form {
	return {
		type: `multipart/form-data; boundary=${boundary}`,
		body:
			`--${boundary}\r\nContent-Disposition: form-data; name=""; filename=""\r\n` +
			`Content-Type: application/json\r\n\r\n${payload}\r\n--${boundary}--\r\n`,
	};
}

const WRITERS: Readonly<Record<BodyForm, (payload: string, boundary: (payload: string) => string) => Form>> = {
	multipart: (payload, boundary) => partForm(payload, boundary(payload)),
	plain: (payload) => ({ type: "multipart/form-data", body: payload }),
	json: (payload) => ({ type: "application/json", body: payload }),
};

/** The body of a metadata update in one of its forms. */
export function updateForm(form: BodyForm, metadata: Metadata, boundary: (payload: string) => string): Form {
	return WRITERS[form](`{"meta_fields":${metadataText(metadata)}}`, boundary);
}

/** A source that gives the same boundary again as long as no payload holds it. */
export function boundaryFor(source: BoundarySource): (payload: string) => string {
	let boundary = source();
	return (payload) => {
		while (payload.includes(boundary)) boundary = source();
		return boundary;
	};
}

/** What goes before and after the bytes of an uploaded file. */
export function fileFrame(name: string, boundary: string): { readonly head: Buffer; readonly tail: Buffer } {
	const head =
		`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escapeName(name)}"\r\n` +
		"Content-Type: application/octet-stream\r\n\r\n";
	return { head: Buffer.from(head), tail: Buffer.from(`\r\n--${boundary}--\r\n`) };
}

/**
 * A file name as a quoted string of RFC 9110. Browsers write `%22` for a quote mark, which only some servers read as one:
 * werkzeug from 2.3 on does (`parse_options_header` in src/werkzeug/http.py), @fastify/busboy and Go's mime package do not.
 * All three take the backslash off. A line end would end the header field, and no file name of ours may.
 */
function escapeName(name: string): string {
	return name
		.replaceAll(/[\\"]/g, String.raw`\$&`)
		.replaceAll("\r", "%0D")
		.replaceAll("\n", "%0A");
}

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
