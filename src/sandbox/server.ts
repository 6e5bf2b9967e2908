import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { answer } from "./answer.ts";
import type { Service } from "./routes/call.ts";
import type { Voice } from "./voice.ts";

/** Longer than clients keep an idle connection, so that it is never this side that closes one being used again. */
const keepAliveTimeout = 65_000;
/** Milliseconds that requests under way have to finish when the sandbox is closed. */
const closeGrace = 1000;

export type Listening = { readonly port: number; close(): Promise<void> };

export type ServerOptions = {
	readonly port: number;
	readonly voice: Voice;
	readonly service: Service;
	readonly log: ((line: string) => void) | undefined;
};

/** Serves on the loopback address alone: what the sandbox holds is nobody else's business. */
export async function listen({ port, voice, service, log }: ServerOptions): Promise<Listening> {
	const serving = { service, voice };
	const open = new Set<ServerResponse>();
	let closing: (() => void) | undefined;
	const server = createServer({ keepAliveTimeout }, (request, response) => {
		const arrived = Date.now();
		open.add(response);
		response.on("close", () => {
			open.delete(response);
			log?.(logLine(arrived, request, response));
			if (open.size === 0) closing?.();
		});
		void answer(request, response, serving);
	});
	await listening(server, port);
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The sandbox has no port");
	return {
		port: address.port,
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			if (open.size > 0) {
				await new Promise<void>((resolve) => {
					closing = resolve;
					setTimeout(resolve, closeGrace).unref();
				});
			}
			server.closeAllConnections();
			await closed;
		},
	};
}

/**
 * `TIME METHOD PATH STATUS`, written when the request is answered. The time is that of its arrival, because that is
 * what a rate is counted from; `-` stands for the status where the client did not wait for the answer.
 */
function logLine(arrived: number, request: IncomingMessage, response: ServerResponse): string {
	const status = response.writableFinished ? String(response.statusCode) : "-";
	return `${new Date(arrived).toISOString()} ${request.method ?? "-"} ${request.url ?? "-"} ${status}`;
}

function listening(server: Server, port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			if (error.code === "EADDRINUSE") reject(new Error(`Port ${port} is in use: take another, or 0 for a free one`));
			else if (error.code === "EACCES") reject(new Error(`Port ${port} needs more rights: take one from 1024 on`));
			else reject(error);
		});
		server.listen({ port, host: "127.0.0.1" }, resolve);
	});
}
