// A Redis of a measure, at a free port of this machine. It keeps nothing on disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";

export async function startRedis() {
	const port = await freePort();
	let child = await started(port);
	const stop = async () => {
		const ended = once(child, "exit");
		child.kill("SIGKILL");
		await ended;
	};
	return {
		address: `redis://127.0.0.1:${port}`,
		stop,
		start: async () => (child = await started(port)),
		/** Sends an inline command. @returns its answer */
		say: (command) => answered(port, command),
		close: stop,
	};
}

export async function freePort() {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address();
	server.close();
	await once(server, "close");
	return port;
}

async function started(port) {
	const flags = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
	const child = spawn("redis-server", flags.map(String), { stdio: ["ignore", "pipe", "inherit"] });
	await new Promise((resolve, reject) => {
		child.stdout.on("data", (text) => String(text).includes("Ready to accept connections") && resolve());
		child.once("exit", () => reject(new Error("redis-server did not start")));
	});
	return child;
}

async function answered(port, command) {
	const socket = connect(port, "127.0.0.1");
	socket.write(`${command}\r\n`);
	const [bytes] = await once(socket, "data");
	socket.destroy();
	return String(bytes);
}
