import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { onTestFinished } from "vitest";

/** Whether this machine has the program of a Redis, and the words for a test's title where it has none. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
export const withoutRedis = hasRedis ? "" : " (skipped: there is no program `redis-server`)";

/** A Redis of the test on this machine, which keeps nothing. It ends with the test. */
export type RedisServer = { readonly url: string; stop(): Promise<void>; start(): Promise<void> };

export async function redisServer(password?: string): Promise<RedisServer> {
	const port = await freePort();
	let child: ChildProcess | undefined;
	const stop = async (): Promise<void> => {
		if (child === undefined) return;
		const ended = once(child, "exit");
		child.kill("SIGKILL");
		await ended;
		child = undefined;
	};
	const start = async (): Promise<void> => {
		const secret = password === undefined ? [] : ["--requirepass", password];
		const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...secret];
		const started = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "inherit"] });
		child = started;
		await new Promise<void>((resolve) => {
			started.stdout.on("data", (chunk: Buffer) => {
				if (chunk.includes("Ready to accept connections")) resolve();
			});
		});
	};
	onTestFinished(stop);
	await start();
	return { url: `redis://127.0.0.1:${port}`, stop, start };
}

/** A port on which nothing listens now. */
export async function freePort(): Promise<number> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	server.close();
	await once(server, "close");
	return typeof address === "object" && address !== null ? address.port : 0;
}
