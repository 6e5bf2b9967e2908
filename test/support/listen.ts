import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { onTestFinished } from "vitest";
import type { Certificate } from "./certificate.ts";

/** Serves on a free port until the test ends, and notes `METHOD URL` of each request. */
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
