import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { Channel } from "./channel.ts";

export type Front = {
	readonly port: number;
	/** closes the port and every connection, and opens it again after so many milliseconds */
	outage(milliseconds: number): void;
	/** takes no more connections; resolves when the last one is closed */
	stop(): Promise<void>;
	/** closes every connection */
	drop(): void;
};

/** Milliseconds between two tries to get the port back, which another program may have taken meanwhile. */
const takeBackInterval = 20;

/** Listens in place of the HTTP server, and hands it each connection through a channel. */
export async function openFront(http: HttpServer, wanted: number, listening: Listen): Promise<Front> {
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
	await listening(server, wanted);
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The sandbox has no port");
	const { port } = address;
	const drop = (): void => sockets.forEach((socket) => void socket.destroy());
	const takeBack = (): void => {
		if (stopped) return;
		server = newServer();
		listening(server, port).then(
			() => void (stopped && server.close()),
			() => (timer = setTimeout(takeBack, takeBackInterval)),
		);
	};
	return {
		port,
		outage(milliseconds) {
			clearTimeout(timer);
			server.close();
			drop();
			timer = setTimeout(takeBack, milliseconds);
		},
		stop() {
			stopped = true;
			clearTimeout(timer);
			// Called also where an outage has closed it already.
			return new Promise((resolve) => server.close(() => resolve()));
		},
		drop,
	};
}

type Listen = (server: Server, port: number) => Promise<void>;
