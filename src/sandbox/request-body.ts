import type { IncomingMessage } from "node:http";
import { Busboy } from "@fastify/busboy";
import { isObject } from "./json-text.ts";
import { Refusal } from "./refusal.ts";

/** Bytes of a JSON body: metadata of one document is a few kilobytes, so a megabyte is a mistake or an attack. */
export const jsonBodyLimit = 1024 * 1024;

/** Bytes of one upload request, all parts together. */
export const uploadBodyLimit = 512 * 1024 * 1024;

// Fatal, because a body that is not UTF-8 would otherwise be stored with replacement characters.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The media type of a request, without its parameters, in lower case. */
export function mediaType(request: IncomingMessage): string {
	return (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

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
		// A cut connection ends without `end`. The answer reaches no client, but the work must stop.
		request.on("error", () => reject(closedInside()));
	});
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

/** The header of one part of a multipart body. */
export type Part = {
	/** `undefined` where the header has no name, which is not the same as an empty name */
	readonly name: string | undefined;
	readonly fileName: string | undefined;
	readonly mediaType: string;
};

/** Takes the bytes of one part as they arrive. */
export type PartSink = (bytes: Buffer) => void;

/** Whether a multipart request names a boundary. The plain form of an update does not, and busboy throws on it. */
export function hasBoundary(request: IncomingMessage): boolean {
	return /;\s*boundary=/i.test(request.headers["content-type"] ?? "");
}

/**
 * Reads a multipart body, part by part. Resolves when the closing boundary was read.
 *
 * `open` gets each part's header and returns the sink of its bytes. An error that it throws refuses the request.
 */
export function readParts(
	request: IncomingMessage,
	{ limit, open }: { limit: number; open: (part: Part) => PartSink },
): Promise<void> {
	checkLength(request, limit);
	return new Promise((resolve, reject) => {
		const parser = parserFor(request);
		let refused = false;
		const refuse = (error: unknown): void => {
			// The parser may still hold parts of the last chunk. No sink may take them after the refusal.
			refused = true;
			request.unpipe(parser);
			request.resume();
			reject(error);
		};
		let size = 0;
		request.on("data", (chunk: Buffer) => {
			size += chunk.length;
			if (size > limit) refuse(tooLarge(limit));
		});
		request.on("error", () => refuse(closedInside()));
		// oxlint-disable-next-line max-params -- the parser's signature
		parser.on("file", (name: string | undefined, stream, fileName: string | undefined, _encoding, type) => {
			// The parser reports a cut part here and on itself; the latter refuses the request.
			stream.on("error", () => {});
			if (refused) {
				stream.resume();
				return;
			}
			try {
				const sink = open({ name, fileName, mediaType: type });
				stream.on("data", (bytes: Buffer) => {
					if (!refused) sink(bytes);
				});
			} catch (error) {
				stream.resume();
				refuse(error);
			}
		});
		parser.on("error", () => refuse(new Refusal(400, "the multipart body is cut short or broken")));
		parser.on("finish", resolve);
		request.pipe(parser);
	});
}

function parserFor(request: IncomingMessage): InstanceType<typeof Busboy> {
	try {
		return new Busboy({
			headers: { ...request.headers, "content-type": request.headers["content-type"] ?? "" },
			// Every part as a stream: a part without a file name is recognised as such, and no part is held in memory.
			isPartAFile: () => true,
			preservePath: true,
		});
	} catch {
		// `boundary=` without a value, or inside another parameter's quotes.
		throw new Refusal(400, "the header Content-Type names no boundary");
	}
}

/** Refuses by the announced length, before a byte is read. */
function checkLength(request: IncomingMessage, limit: number): void {
	if (Number(request.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
}

function tooLarge(limit: number): Refusal {
	return new Refusal(413, `the body is over ${limit} bytes`);
}

function closedInside(): Refusal {
	return new Refusal(400, "the connection was closed inside the body");
}
