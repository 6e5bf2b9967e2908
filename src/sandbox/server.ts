import { createServer as createHttpServer, type Server as HttpServer, type ServerResponse } from "node:http";
import type { Server } from "node:net";
import { answer } from "./answer.ts";
import { openFront } from "./faults/listener.ts";
import type { FaultInjector } from "./faults/fault-injector.ts";
import { type Log, logLine } from "./log.ts";
import type { Service } from "./routes/call.ts";
import type { ActiveFlavour } from "./active-flavour.ts";

/** Longer than clients keep an idle connection, so that it is never this side that closes one being used again. */
const keepAliveTimeout = 65_000;

/** Milliseconds that requests under way have to finish when the sandbox is closed. */
const closeGrace = 1000;

export type Listening = { readonly port: number; close(): Promise<void> };

export type ServerOptions = {
	readonly port: number;
	readonly voice: ActiveFlavour;
	readonly service: Service;
	readonly log: Log | undefined;
	/** what is to go wrong on purpose; without it requests take the straight way */
	readonly trouble: FaultInjector | undefined;
};

/** Serves on the loopback address alone: what the sandbox holds is nobody else's business. */
export async function listen({ port, voice, service, log, trouble }: ServerOptions): Promise<Listening> {
	const serving = { service, voice };
	const open = new Set<ServerResponse>();
	let closing: (() => void) | undefined;
	const server = createHttpServer({ keepAliveTimeout }, (request, response) => {
		const arrived = Date.now();
		open.add(response);
		response.on("close", () => {
			open.delete(response);
			// Trouble writes its own line: what the HTTP server thinks it has sent is not what was.
			const status = response.writableFinished ? response.statusCode : null;
			if (trouble === undefined) log?.(logLine(arrived, request, status));
			if (open.size === 0) closing?.();
		});
		void (trouble === undefined ? answer(request, response, serving) : trouble.answer(request, response, serving));
	});
	const door = trouble === undefined ? await plainDoor(server, port) : await troubledDoor(server, port, trouble);
	return {
		port: door.port,
		async close() {
			const closed = door.stop();
			trouble?.close();
			if (open.size > 0) {
				await new Promise<void>((resolve) => {
					closing = resolve;
					setTimeout(resolve, closeGrace).unref();
				});
			}
			door.drop();
			await closed;
		},
	};
}

/** Where connections come in. */
type Door = {
	readonly port: number;
	/** takes no more; resolves when the last one is closed */
	stop(): Promise<void>;
	/** closes all of them */
	drop(): void;
};

async function plainDoor(server: HttpServer, wanted: number): Promise<Door> {
	await listening(server, wanted);
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The sandbox has no port");
	return {
		port: address.port,
		stop: () => new Promise((resolve) => server.close(() => resolve())),
		drop: () => server.closeAllConnections(),
	};
}

async function troubledDoor(server: HttpServer, wanted: number, trouble: FaultInjector): Promise<Door> {
	const front = await openFront(server, wanted, listening);
	trouble.outage = (milliseconds) => front.outage(milliseconds);
	return front;
}

/** Listens on the loopback address. The errors are for people. */
export function listening(server: Server, port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			if (error.code === "EADDRINUSE") reject(new Error(`Port ${port} is in use: take another, or 0 for a free one`));
			else if (error.code === "EACCES") reject(new Error(`Port ${port} needs more rights: take one from 1024 on`));
			else reject(error);
		});
		server.listen({ port, host: "127.0.0.1" }, resolve);
	});
}
