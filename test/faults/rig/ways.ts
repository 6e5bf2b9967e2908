import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import { onTestFinished } from "vitest";
import { at } from "../../support/values.ts";

export type Way = {
	readonly port: number;
	readonly server: Server;
	/** connections that came */
	readonly sockets: ReadonlySet<Socket>;
	/** passes nothing on any more, and closes nothing: the other side is gone */
	vanish(): void;
	close(): void;
};

/** A server of the test's own, that ends with it. */
export async function listening(server: Server, port = 0, host = "127.0.0.1"): Promise<Way> {
	const sockets = new Set<Socket>();
	server.on(server.listenerCount("secureConnection") > 0 ? "secureConnection" : "connection", (socket: Socket) => {
		sockets.add(socket.on("error", () => undefined));
	});
	server.on("tlsClientError", () => undefined);
	server.listen(port, host);
	await once(server, "listening");
	const close = (): void => {
		server.close();
		for (const socket of sockets) socket.destroy();
	};
	onTestFinished(close);
	const vanish = (): void => {
		for (const socket of sockets) {
			socket.unpipe();
			socket.removeAllListeners("data");
			socket.pause();
		}
	};
	return { port: Number(at(server.address(), "port")), server, sockets, vanish, close };
}

/** A way to the sandbox of that port through another one, in TLS where there is a certificate. */
export async function wayTo(target: number, secure?: TlsOptions, port = 0): Promise<Way> {
	let gone = false;
	const pass = (socket: Socket): void => {
		socket.on("error", () => undefined);
		if (gone) return void socket.pause();
		const through = connect(target, "127.0.0.1");
		through.on("error", () => socket.destroy());
		// The sandbox wants to be asked under its own name.
		socket.on("data", (chunk: Buffer) => {
			if (gone) return;
			const text = chunk.toString("latin1").replaceAll(/^Host: \S+\r\n/gim, `Host: 127.0.0.1:${target}\r\n`);
			through.write(text, "latin1");
		});
		through.on("data", (chunk: Buffer) => void (gone || socket.write(chunk)));
		socket.on("close", () => through.destroy());
		through.on("close", () => void (gone || socket.end()));
	};
	const server = secure === undefined ? createServer(pass) : createSecureServer(secure, pass);
	const way = await listening(server, port);
	return { ...way, vanish: () => void (gone = true) };
}
