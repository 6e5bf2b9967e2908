import { STATUS_CODES } from "node:http";
import type { Reply } from "../answer.ts";
import { isObject, membersText, rawMembers } from "../json-text.ts";
import { parsePythonJson } from "../python.ts";

export type Header = readonly [name: string, value: string];

/** An answer before it is encoded, with all parts that a fault can alter. */
export type Draft = {
	readonly version: "1.1" | "1.0";
	readonly status: number;
	readonly reason: string;
	/** in the order in which they are sent; framing adds its own */
	readonly headers: readonly Header[];
	readonly body: Buffer;
	/** how the client finds its end: Content-Length, a last chunk, or the end of the connection; `bare` adds no header */
	readonly framing: "length" | "chunked" | "close" | "bare";
	/** bytes before the status line */
	readonly prefix: string;
	/** bytes after the body */
	readonly suffix: string;
	/** whether the connection is closed after it */
	readonly last: boolean;
};

/** The bytes of an answer. */
export type EncodedAnswer = {
	readonly status: number;
	readonly head: Buffer;
	/** as it is sent, chunked or not */
	readonly body: Buffer;
	/** without chunks */
	readonly content: Buffer;
	readonly last: boolean;
};

export function draftOf({ status, headers, type, body }: Reply, keepAlive: boolean): Draft {
	return {
		version: "1.1",
		status,
		reason: STATUS_CODES[status] ?? "Unknown",
		headers: [...Object.entries(headers), ["content-type", type], ["date", new Date().toUTCString()]],
		body: Buffer.from(body),
		framing: "length",
		prefix: "",
		suffix: "",
		last: !keepAlive || headers["connection"] === "close",
	};
}

export function encode(draft: Draft): EncodedAnswer {
	const { version, status, reason, headers, framing, prefix, suffix, body } = draft;
	const last = draft.last || framing === "close";
	const lines = headers.filter(([name]) => name !== "connection").map(([name, value]) => `${name}: ${value}\r\n`);
	if (framing === "length") lines.push(`content-length: ${body.length}\r\n`);
	if (framing === "chunked") lines.push("transfer-encoding: chunked\r\n");
	lines.push(`connection: ${last ? "close" : "keep-alive"}\r\n`);
	const head = Buffer.from(`${prefix}HTTP/${version} ${status} ${reason}\r\n${lines.join("")}\r\n`);
	const bytes = framing === "chunked" ? Buffer.concat([chunk(body), Buffer.from("0\r\n\r\n")]) : body;
	const whole = suffix === "" ? bytes : Buffer.concat([bytes, Buffer.from(suffix)]);
	return { status, head, body: whole, content: body, last };
}

/** One chunk of a chunked body. */
export function chunk(bytes: Buffer): Buffer {
	return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

export function withHeader(draft: Draft, name: string, value: string): Draft {
	return { ...draft, headers: [...draft.headers.filter(([other]) => other !== name), [name, value]] };
}

/** Another body, with its Content-Type where it is not JSON. */
export function withBody(draft: Draft, body: Buffer | string, type?: string): Draft {
	const changed = { ...draft, body: typeof body === "string" ? Buffer.from(body) : body };
	return type === undefined ? changed : withHeader(changed, "content-type", type);
}

export function withStatus(draft: Draft, status: number, reason = STATUS_CODES[status] ?? "Unknown"): Draft {
	return { ...draft, status, reason };
}

/** The envelope's members as JSON text, which parsing could change; none where the body is not an object. */
export function envelopeOf({ body }: Draft): Map<string, string> {
	return objectMembers(body.toString());
}

export function withEnvelope(draft: Draft, members: ReadonlyMap<string, string>): Draft {
	return withBody(draft, membersText(members));
}

/** The members of JSON text; none where it is not an object. */
export function objectMembers(text: string): Map<string, string> {
	try {
		return isObject(parsePythonJson(text)) ? rawMembers(text) : new Map<string, string>();
	} catch {
		return new Map<string, string>();
	}
}
