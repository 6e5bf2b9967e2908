import { connect } from "node:net";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { documentsPath, send, type Target } from "../support.ts";

/** All bytes received over one connection, and how it ended. */
export type Wire = {
	readonly bytes: Buffer;
	readonly text: string;
	/** `open`: it was still open when the test stopped waiting */
	readonly end: "fin" | "rst" | "open";
};

export type Waiting = {
	/** stops when it returns true for the received text */
	readonly until?: (text: string) => boolean;
	/** stops after that many milliseconds without bytes */
	readonly quiet?: number;
};

/** Sends bytes and records the bytes that are received, without an HTTP client, which could hide errors. */
export function exchange(port: number, request: string | Buffer, { until, quiet = 150 }: Waiting = {}): Promise<Wire> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1");
		const chunks: Buffer[] = [];
		const done = (end: Wire["end"]): void => {
			clearTimeout(timer);
			const bytes = Buffer.concat(chunks);
			resolve({ bytes, text: bytes.toString(), end });
			socket.destroy();
		};
		let timer = setTimeout(() => done("open"), quiet);
		socket.on("data", (chunk) => {
			chunks.push(chunk);
			clearTimeout(timer);
			timer = setTimeout(() => done("open"), quiet);
			if (until?.(Buffer.concat(chunks).toString()) === true) done("open");
		});
		socket.on("end", () => done("fin"));
		socket.on("error", () => done("rst"));
		socket.write(request);
	});
}

/** A request as text, with the key. */
export function requestText(
	sandbox: Target,
	method: string,
	path: string,
	{ body = "", headers = [] }: { readonly body?: string; readonly headers?: readonly string[] } = {},
): string {
	const lines = [
		`${method} ${path} HTTP/1.1`,
		`Host: 127.0.0.1:${sandbox.port}`,
		`Authorization: Bearer ${sandbox.key}`,
		"Content-Type: application/json",
		`Content-Length: ${Buffer.byteLength(body)}`,
		...headers,
	];
	return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** The update whose answer most of these tests alter. */
export const updateBody = '{"meta_fields":{"author":"Ana"}}';

export function updateText(sandbox: Sandbox, document: string, headers: readonly string[] = []): string {
	const path = documentsPath(sandbox.datasetId ?? "", document);
	return requestText(sandbox, "PUT", path, { body: updateBody, headers });
}

/** The stored metadata of a document, read by a request that no fault of these tests selects. */
export async function storedMetadata(sandbox: Sandbox, document: string): Promise<string> {
	const query = `id=${document}`;
	const { text } = await send(sandbox, "GET", `${documentsPath(sandbox.datasetId ?? "")}?${query}`);
	return /"meta_fields":(\{[^}]*\})/.exec(text)?.[1] ?? "";
}
