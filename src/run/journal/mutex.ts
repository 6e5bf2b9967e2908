import { createHash } from "node:crypto";
import { once } from "node:events";
import { link, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../errors.ts";

/** Tries to be the only one; resolves with what ends that, or with undefined where another is it. */
export type Mutex = () => Promise<(() => Promise<void>) | undefined>;

/** How long another may take, in milliseconds. It is milliseconds of work; a machine can be slow. */
const PATIENCE = 10_000;

/** Between two tries, in milliseconds. */
const PAUSE = 5;

/** A file that is left of a process that was killed, in milliseconds of age. */
const LEFT_BEHIND = 60_000;

/** Does something while no other process of this machine does it. */
export async function withMutex<Value>(mutex: Mutex, work: () => Promise<Value>): Promise<Value> {
	const end = performance.now() + PATIENCE;
	for (;;) {
		const release = await mutex();
		if (release !== undefined) {
			try {
				return await work();
			} finally {
				await release();
			}
		}
		if (performance.now() > end) throw new Error("another process takes the lock, and does not come to an end with it");
		await sleep(PAUSE);
	}
}

/**
 * By a name that the system gives to one process and takes back when that ends, however it ends. The name is one of the
 * network that the process sees, so containers that share a volume don't exclude each other: it may guard the taking
 * of a lock, and is none itself.
 */
export function socketMutex(path: string): Mutex {
	const name = `\0ragtag-${createHash("sha256").update(path).digest("hex")}`;
	return async () => {
		const server = createServer((socket) => socket.destroy());
		try {
			await once(server.listen({ path: name }), "listening");
		} catch (error) {
			if (errorCode(error) === "EADDRINUSE") return undefined;
			throw error;
		}
		return async () => {
			await once(server.close(), "close");
		};
	};
}

/**
 * By a second name of a file, which the file system gives once. It stays when its process is killed, and is then taken
 * for left behind after a minute.
 *
 * @param nonce this process alone has it
 */
export function linkMutex(path: string, nonce: string): Mutex {
	const own = `${path}.${nonce}`;
	const shared = `${path}.taking`;
	return async () => {
		await writeFile(own, "", { mode: 0o600, flag: "wx" });
		try {
			await link(own, shared);
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
			const age = await ageOf(shared);
			if (age !== undefined && age > LEFT_BEHIND) await rm(shared, { force: true });
			return undefined;
		} finally {
			await rm(own, { force: true });
		}
		return () => rm(shared, { force: true });
	};
}

/** Milliseconds since a file was written; undefined where there is none. */
export async function ageOf(path: string): Promise<number | undefined> {
	try {
		return Date.now() - (await stat(path)).mtimeMs;
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
