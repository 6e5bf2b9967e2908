import type { IncomingMessage } from "node:http";
import { checkLength, tooLarge } from "./body.ts";
import { Refusal } from "./envelope.ts";
import type { BusboyClass } from "./optional.ts";

export type Part = {
	/** `undefined` where the header names none, which is not the same as an empty name */
	readonly name: string | undefined;
	readonly fileName: string | undefined;
	readonly mediaType: string;
};

/** Takes the bytes of one part as they come. */
export type PartSink = (bytes: Buffer) => void;

/** Whether a multipart request names a boundary. The plain form of an update does not, and busboy throws on it. */
export function hasBoundary(request: IncomingMessage): boolean {
	return /;\s*boundary=/i.test(request.headers["content-type"] ?? "");
}

/**
 * Reads a multipart body, part by part. `open` sees each part's header and returns what takes its bytes; what it
 * throws refuses the request. Resolves when the closing boundary was read.
 */
export function readParts(
	request: IncomingMessage,
	{ busboy, limit, open }: { busboy: BusboyClass; limit: number; open: (part: Part) => PartSink },
): Promise<void> {
	checkLength(request, limit);
	return new Promise((resolve, reject) => {
		const parser = parserFor(request, busboy);
		let refused = false;
		const refuse = (error: unknown): void => {
			// The parser may still hold parts of the last chunk; nothing of them may be taken after the refusal.
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
		request.on("error", () => refuse(new Refusal(400, "the connection was closed inside the body")));
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

function parserFor(request: IncomingMessage, busboy: BusboyClass): InstanceType<BusboyClass> {
	try {
		return new busboy({
			headers: { ...request.headers, "content-type": request.headers["content-type"] ?? "" },
			// Every part as a stream: a part without a file name is then seen as such, and none is held in memory.
			isPartAFile: () => true,
			preservePath: true,
		});
	} catch {
		// `boundary=` with nothing behind it, or inside another parameter's quotes.
		throw new Refusal(400, "the header Content-Type names no boundary");
	}
}
