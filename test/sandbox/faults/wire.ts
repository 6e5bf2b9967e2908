import { connect } from "node:net";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { documentsPath, send, type Target } from "../support.ts";

/** Everything that came over one connection, and how it ended. */
export type Wire = {
	readonly bytes: Buffer;
	readonly text: string;
	/** `open`: it was still open when the test stopped waiting */
	readonly end: "fin" | "rst" | "open";
};

export type Waiting = {
	/** stops when so much has come */
	readonly until?: (text: string) => boolean;
	/** stops when nothing came for so long, in milliseconds */
	readonly quiet?: number;
};

/** Sends bytes and takes down what comes, as bytes: no HTTP client is there to mend or to hide anything. */
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

/** A request as text, with the key and whatever else is given. */
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

/** The update that most of these tests spoil. */
export const updateBody = '{"meta_fields":{"author":"Ana"}}';

export function updateText(sandbox: Sandbox, document: string, headers: readonly string[] = []): string {
	const path = documentsPath(sandbox.datasetId ?? "", document);
	return requestText(sandbox, "PUT", path, { body: updateBody, headers });
}

/** The n-th document of a filled sandbox. */
export function documentId(number: number): string {
	return number.toString(16).padStart(32, "0");
}

/** What the store holds of a document, asked on a way that no fault of these tests stands in. */
export async function held(sandbox: Sandbox, document: string): Promise<string> {
	const query = `id=${document}`;
	const { text } = await send(sandbox, "GET", `${documentsPath(sandbox.datasetId ?? "")}?${query}`);
	return /"meta_fields":(\{[^}]*\})/.exec(text)?.[1] ?? "";
}
