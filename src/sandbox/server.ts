import { createServer, type Server, type ServerResponse } from "node:http";
import { answer, type Backend, type Log, logLine } from "./answer.ts";
import type { FaultInjector } from "./faults/fault-injector.ts";
import { type Listener, openFaultyListener, openListener } from "./listener.ts";

/** Milliseconds. Longer than clients keep an idle connection, so that this side never closes one in use. */
const keepAliveTimeout = 65_000;

/** Milliseconds that requests in flight have to finish when the sandbox is closed. */
const closeGrace = 1000;

export type RunningServer = { readonly port: number; close(): Promise<void> };

export type ServerOptions = {
	readonly port: number;
	readonly backend: Backend;
	readonly log: Log | undefined;
	/** `undefined`: no request meets a fault */
	readonly injector: FaultInjector | undefined;
};

/** Serves on the loopback address alone, because the sandbox's data must not leave this machine. */
export async function startServer({ port, backend, log, injector }: ServerOptions): Promise<RunningServer> {
	const open = new Set<ServerResponse>();
	let onIdle: (() => void) | undefined;
	const server = createServer({ keepAliveTimeout }, (request, response) => {
		const arrived = Date.now();
		open.add(response);
		response.on("close", () => {
			open.delete(response);
			// The injector writes its own line, because the HTTP server does not know what was really sent.
			const status = response.writableFinished ? response.statusCode : null;
			if (injector === undefined) log?.(logLine(arrived, request, status));
			if (open.size === 0) onIdle?.();
		});
		void (injector === undefined ? answer(request, response, backend) : injector.answer(request, response, backend));
	});
	const listener = await (injector === undefined
		? openListener(server, port)
		: listenWithFaults(server, port, injector));
	return {
		port: listener.port,
		async close() {
			const closed = listener.stop();
			injector?.close();
			if (open.size > 0) {
				await new Promise<void>((resolve) => {
					onIdle = resolve;
					setTimeout(resolve, closeGrace).unref();
				});
			}
			listener.closeConnections();
			await closed;
		},
	};
}

async function listenWithFaults(server: Server, port: number, injector: FaultInjector): Promise<Listener> {
	const listener = await openFaultyListener(server, port);
	injector.outage = (milliseconds) => listener.outage(milliseconds);
	return listener;
}
