import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { documented } from "../../src/rest/flavours.ts";
import { createApi } from "../../src/rest/api.ts";
import type { Api, Document } from "../../src/rest/types.ts";

type ApiOptions = Parameters<typeof createApi>[0];

export const key = "ragflow-SECRETkeyBODY0123456789";

/** What a raw server does once it has a complete request: `bytes` is the request as it came. */
export type Script = (socket: Socket, bytes: string, count: number) => void;

export type RawServer = {
	readonly port: number;
	readonly baseUrl: string;
	/** every complete request, byte for byte (latin1) */
	readonly requests: string[];
	connections(): number;
	close(): Promise<void>;
};

/** A server without an HTTP library: what it answers is wholly the test's. */
export async function rawServer(script: Script, host = "127.0.0.1"): Promise<RawServer> {
	const requests: string[] = [];
	const sockets = new Set<Socket>();
	let connections = 0;
	const server: Server = createServer((socket) => {
		connections++;
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		socket.on("error", () => undefined);
		let pending = "";
		socket.on("data", (chunk) => {
			pending += chunk.toString("latin1");
			for (let length = completeLength(pending); length !== undefined; length = completeLength(pending)) {
				const request = pending.slice(0, length);
				pending = pending.slice(length);
				requests.push(request);
				script(socket, request, requests.length);
			}
		});
	});
	server.listen(0, host);
	await once(server, "listening");
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	return {
		port,
		baseUrl: `http://${host}:${port}/api/v1`,
		requests,
		connections: () => connections,
		async close() {
			for (const socket of sockets) socket.destroy();
			server.close();
			await once(server, "close");
		},
	};
}

function completeLength(bytes: string): number | undefined {
	const head = bytes.indexOf("\r\n\r\n");
	if (head === -1) return undefined;
	const length = /^content-length: (\d+)\r$/im.exec(bytes.slice(0, head + 1));
	const total = head + 4 + Number(length?.[1] ?? 0);
	return bytes.length >= total ? total : undefined;
}

/** A whole answer with its length. */
export function answer(body: string, head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"): string {
	return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export const success = (id: string): string =>
	answer(JSON.stringify({ code: 0, message: "Success", data: { document_id: id } }));

export function apiFor(baseUrl: string, options: Partial<ApiOptions> = {}): Api {
	return createApi({
		baseUrl,
		key,
		dialect: { flavour: documented, form: "multipart" },
		timeout: 2_000,
		connections: 4,
		...options,
	});
}

/** The answer to a list that is asked for one id: a document of that id. Undefined for any other request. */
export function listAnswer(request: string): string | undefined {
	const asked = /^GET \/api\/v1\/datasets\/([^/ ]+)\/documents\?\S*\bid=([^& ]+)/.exec(request);
	if (asked === null) return undefined;
	const [dataset = "", id = ""] = asked.slice(1).map((part) => decodeURIComponent(part));
	return answer(JSON.stringify({ code: 0, data: { total: 1, docs: [{ id, dataset_id: dataset, name: "n" }] } }));
}

/** A document that the service listed, as a removal wants it. The server must answer with `listAnswer`. */
export async function listed(api: Api, dataset: string, id: string): Promise<Document> {
	const { items } = await api.listDocuments(dataset, { page: 1, pageSize: 1, id });
	if (items[0] === undefined) throw new Error("nothing was listed");
	return items[0];
}

/** The error a promise rejects with; a promise that resolves is a failed test. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
	try {
		await promise;
	} catch (error) {
		return error;
	}
	throw new Error("it was taken for a success");
}

/** Resources of one test, closed in the reverse order. */
export class Cleanup {
	readonly #closers: (() => Promise<unknown>)[] = [];

	add<Resource extends { close(): Promise<unknown> }>(resource: Resource): Resource {
		this.#closers.push(() => resource.close());
		return resource;
	}

	async run(): Promise<void> {
		for (const close of this.#closers.splice(0).reverse()) await close();
	}
}
