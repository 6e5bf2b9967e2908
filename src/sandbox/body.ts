import type { IncomingMessage } from "node:http";
import { Refusal } from "./envelope.ts";
import { isObject } from "./object.ts";

// Fatal, because a body that is not UTF-8 would otherwise be stored with replacement characters and nobody would know.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** All bytes of a request's body, refused as soon as they are more than `limit`. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
	checkLength(request, limit);
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let size = 0;
		request.on("data", (chunk: Buffer) => {
			size += chunk.length;
			if (size > limit) reject(tooLarge(limit));
			else chunks.push(chunk);
		});
		request.on("end", () => {
			const [only] = chunks;
			resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
		});
		// A cut connection ends without `end`; there is nobody left to answer, but the work must stop.
		request.on("error", () => reject(new Refusal(400, "the connection was closed inside the body")));
	});
}

/** Refuses by the announced length, before a byte is read. */
export function checkLength(request: IncomingMessage, limit: number): void {
	if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
}

export function tooLarge(limit: number): Refusal {
	return new Refusal(413, `the body is over ${limit} bytes`);
}

/** The text and the parsed members of a body that must be one JSON object. */
export function jsonObject(bytes: Buffer): { text: string; members: { readonly [key: string]: unknown } } {
	let text: string;
	let value: unknown;
	try {
		text = utf8.decode(bytes);
	} catch {
		throw new Refusal(400, "the body is not UTF-8");
	}
	try {
		value = JSON.parse(text);
	} catch {
		throw new Refusal(400, text.trim() === "" ? "the body is empty" : "the body is not JSON");
	}
	if (!isObject(value)) throw new Refusal(400, "the body is not a JSON object");
	return { text, members: value };
}

/** The media type of a request, without its parameters, in lower case. */
export function mediaType(request: IncomingMessage): string {
	return (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
