import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { onTestFinished } from "vitest";

/** Whether this machine has the program of a Redis, and the words for a test's title where it has none. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
export const withoutRedis = hasRedis ? "" : " (skipped: there is no program `redis-server`)";

/** A Redis of the test on this machine, which keeps nothing. It ends with the test. */
export type RedisServer = {
	readonly url: string;
	/** runs a command with `redis-cli`, and returns what it prints */
	cli(...words: readonly string[]): string;
	stop(): Promise<void>;
	start(): Promise<void>;
};

export type RedisOptions = {
	readonly password?: string;
	readonly flags?: readonly string[];
	/** paths of a certificate and its key: it speaks TLS alone */
	readonly tls?: { readonly cert: string; readonly key: string };
};

export async function redisServer({ password, flags: more = [], tls }: RedisOptions = {}): Promise<RedisServer> {
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
		const secure =
			tls === undefined
				? ["--port", String(port)]
				: ["--port", "0", "--tls-port", String(port), "--tls-cert-file", tls.cert, "--tls-key-file", tls.key];
		const open = tls === undefined ? [] : ["--tls-ca-cert-file", tls.cert, "--tls-auth-clients", "no"];
		const flags = [...secure, ...open, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...secret, ...more];
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
	const cli = (...words: readonly string[]): string =>
		spawnSync("redis-cli", ["-p", String(port), ...words], { encoding: "utf8" }).stdout;
	return { url: `${tls === undefined ? "redis" : "rediss"}://127.0.0.1:${port}`, cli, stop, start };
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
