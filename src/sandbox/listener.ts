import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { Channel } from "./faults/channel.ts";

/** The port, and the connections to it. */
export type Listener = {
	readonly port: number;
	/** takes no more connections; resolves when the last one is closed */
	stop(): Promise<void>;
	closeConnections(): void;
};

/** Listens on the loopback address, and returns the port. Throws an error for the user. */
export async function listenOn(server: Server, port: number): Promise<number> {
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			if (error.code === "EADDRINUSE") reject(new Error(`Port ${port} is in use: take another, or 0 for a free one`));
			else if (error.code === "EACCES") reject(new Error(`Port ${port} needs more rights: take one from 1024 on`));
			else reject(error);
		});
		server.listen({ port, host: "127.0.0.1" }, resolve);
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The sandbox has no port");
	return address.port;
}

export async function openListener(server: HttpServer, wantedPort: number): Promise<Listener> {
	return {
		port: await listenOn(server, wantedPort),
		stop: () => new Promise((resolve) => server.close(() => resolve())),
		closeConnections: () => server.closeAllConnections(),
	};
}

/** A listener whose connections faults can reach. */
export type FaultyListener = Listener & {
	/** closes the port and every connection, and opens the port again after that time */
	outage(milliseconds: number): void;
};

/** Milliseconds between two attempts to take the port again, which another program may hold meanwhile. */
const reopenInterval = 20;

/** Listens in place of the HTTP server, and gives it each connection through a `Channel`. */
export async function openFaultyListener(http: HttpServer, wantedPort: number): Promise<FaultyListener> {
	const sockets = new Set<Socket>();
	const newServer = (): Server =>
		createServer({ allowHalfOpen: true }, (socket) => {
			sockets.add(socket);
			socket.on("close", () => sockets.delete(socket));
			http.emit("connection", new Channel(socket));
		});
	let server = newServer();
	let timer: NodeJS.Timeout | undefined;
	let stopped = false;
	const port = await listenOn(server, wantedPort);
	const closeConnections = (): void => sockets.forEach((socket) => void socket.destroy());
	const reopen = (): void => {
		if (stopped) return;
		server = newServer();
		listenOn(server, port).then(
			() => void (stopped && server.close()),
			() => (timer = setTimeout(reopen, reopenInterval)),
		);
	};
	return {
		port,
		outage(milliseconds) {
			clearTimeout(timer);
			server.close();
			closeConnections();
			timer = setTimeout(reopen, milliseconds);
		},
		stop() {
			stopped = true;
			clearTimeout(timer);
			// During an outage the server is closed already; `close` then calls back with an error.
			return new Promise((resolve) => server.close(() => resolve()));
		},
		closeConnections,
	};
}
