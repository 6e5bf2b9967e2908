import { request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/index.ts";
import { folder } from "../support/service.ts";
import { at } from "../support/values.ts";

export { at, folder };

/** A sandbox on a free port that is closed after the test. */
export async function start(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
	const sandbox = await startSandbox({ port: 0, ...options });
	onTestFinished(() => sandbox.close());
	return sandbox;
}

export type Answer = { status: number; text: string; json: unknown; code: unknown; message: string; data: unknown };
export type Sent = { headers?: OutgoingHttpHeaders; body?: string | Buffer; key?: string | null };

export type Target = Pick<Sandbox, "port" | "key">;

/** Sends one request over a connection of its own, without the client under `src/rest`. */
export function send(sandbox: Target, method: string, path: string, sent: Sent = {}): Promise<Answer> {
	const key = sent.key === undefined ? sandbox.key : sent.key;
	const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
	const body = Buffer.from(sent.body ?? "");
	return new Promise((resolve, reject) => {
		const request = httpRequest(
			{
				host: "127.0.0.1",
				port: sandbox.port,
				method,
				path,
				agent: false,
				headers: { ...authorization, "content-length": body.length, ...sent.headers },
			},
			(response) => {
				const chunks: Buffer[] = [];
				response.on("data", (chunk: Buffer) => chunks.push(chunk));
				response.on("end", () => resolve(answerOf(response.statusCode ?? 0, Buffer.concat(chunks).toString())));
				response.on("error", reject);
			},
		);
		request.on("error", reject);
		request.end(body);
	});
}

/** `undefined` for text that is not JSON, which some releases answer. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function answerOf(status: number, text: string): Answer {
	const json = parsed(text);
	return { status, text, json, code: at(json, "code"), message: String(at(json, "message")), data: at(json, "data") };
}

const boundary = "frontier-between-parts";
export const partsHeader = { "content-type": `multipart/form-data; boundary=${boundary}` };
export const plainHeader = { "content-type": "multipart/form-data" };
export const jsonHeader = { "content-type": "application/json" };

/** A multipart body, each part with its header lines and its bytes. */
export function multipart(...parts: { head: string[]; body: string | Buffer }[]): Buffer {
	const chunks = parts.flatMap(({ head, body }) => [
		Buffer.from(`--${boundary}\r\n${head.join("\r\n")}\r\n\r\n`),
		Buffer.from(body),
		Buffer.from("\r\n"),
	]);
	return Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
}

export const updatePart = ['Content-Disposition: form-data; name=""; filename=""', "Content-Type: application/json"];

export function filePart(name: string, body: string | Buffer): { head: string[]; body: string | Buffer } {
	return {
		head: [`Content-Disposition: form-data; name="file"; filename="${name}"`, "Content-Type: application/octet-stream"],
		body,
	};
}

export async function createDataset(sandbox: Target, name = "papers"): Promise<string> {
	const body = JSON.stringify({ name });
	return String(at((await send(sandbox, "POST", "/api/v1/datasets", { headers: jsonHeader, body })).data, "id"));
}

/** Uploads empty files with these names, and returns their ids. */
export async function upload(sandbox: Target, dataset: string, ...names: string[]): Promise<string[]> {
	const body = multipart(...names.map((name) => filePart(name, "")));
	const answer = await send(sandbox, "POST", documentsPath(dataset), { headers: partsHeader, body });
	return names.map((_, index) => String(at(answer.data, index, "id")));
}

export function documentsPath(dataset: string, document?: string): string {
	return `/api/v1/datasets/${dataset}/documents${document === undefined ? "" : `/${document}`}`;
}

export function put(sandbox: Target, dataset: string, document: string, metadata: string): Promise<Answer> {
	const sent = { headers: jsonHeader, body: `{"meta_fields":${metadata}}` };
	return send(sandbox, "PUT", documentsPath(dataset, document), sent);
}

export function list(sandbox: Target, dataset: string, query: Record<string, string> = {}): Promise<Answer> {
	return send(sandbox, "GET", `${documentsPath(dataset)}?${new URLSearchParams(query).toString()}`);
}

/** The names on a page of documents. */
export async function names(sandbox: Target, dataset: string, query: Record<string, string> = {}): Promise<unknown[]> {
	const docs = at((await list(sandbox, dataset, query)).data, "docs");
	return Array.isArray(docs) ? docs.map((document: unknown) => at(document, "name")) : [];
}
