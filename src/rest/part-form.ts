import { randomBytes } from "node:crypto";
import type { BodyForm } from "../body-forms.ts";
import { type Metadata, metadataText } from "../json/values.ts";

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
