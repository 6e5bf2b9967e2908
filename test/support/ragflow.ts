import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { onTestFinished } from "vitest";
import type { Certificate } from "./certificate.ts";

export type RagflowOptions = {
	/** the verb that this release updates with */
	readonly verb?: "PUT" | "PATCH";
	/** whether the key is the owner's or a team member's */
	readonly isOwner?: boolean;
	/** what the clock of the service differs by, in milliseconds */
	readonly skew?: number;
};

export const RAGFLOW_DATASET = "5f1c0123456789abcdef0123456789ab";

/** What RAGFlow answers to what `doctor` asks: nearly always status 200, the verdict in the envelope. */
export function ragflow({ verb = "PUT", isOwner = true, skew = 0 }: RagflowOptions = {}): RequestListener {
	return (request, response) => {
		const { method = "" } = request;
		// A proxy is told the whole address.
		const url = (request.url ?? "").replace(/^http:\/\/[^/]+/, "");
		request.resume();
		const json = (value: unknown): void => {
			const date = new Date(Date.now() + skew).toUTCString();
			response.writeHead(200, { "content-type": "application/json", date }).end(JSON.stringify(value));
		};
		const refuse = (code: number, words: string): void => json({ code, data: null, message: words });
		if (method === "GET" && url.startsWith("/api/v1/datasets?")) {
			return json({ code: 0, data: [{ id: RAGFLOW_DATASET, name: "handbooks", document_count: 7 }] });
		}
		if (method === "GET") return json({ code: 0, data: { total: 7, docs: [] } });
		if (method !== verb) return refuse(100, "<MethodNotAllowed '405: Method Not Allowed'>");
		const isThere = url.includes(RAGFLOW_DATASET);
		return refuse(102, isThere && isOwner ? "The dataset doesn't own the document." : "You don't own the dataset.");
	};
}

/** A server of that behaviour on a free port, and its requests. It ends with the test. */
export async function listen(
	listener: RequestListener,
	certificate?: Certificate,
): Promise<{ readonly url: string; readonly port: number; readonly requests: readonly string[] }> {
	const requests: string[] = [];
	const noted: RequestListener = (request, response) => {
		requests.push(`${request.method} ${request.url}`);
		listener(request, response);
	};
	const server = certificate === undefined ? createServer(noted) : createSecureServer(certificate, noted);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	return { url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`, port, requests };
}
