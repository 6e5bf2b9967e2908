import { createHash } from "node:crypto";
import { once } from "node:events";
import { linkSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../errors.ts";
import { removeFile } from "../storage/quick-files.ts";

/** Tries to enter. Resolves with the function that leaves again, or with undefined while another process is in. */
export type Mutex = () => Promise<(() => Promise<void>) | undefined>;

/**
 * The longest time that another process may stay in, in milliseconds. Its work takes milliseconds, but a machine can be
 * slow.
 */
const TIMEOUT_MS = 10_000;

/** Between two tries, in milliseconds: about as long as the work takes. */
const POLL_MS = 5;

/** Age in milliseconds at which the file of a mutex counts as left by a process that was killed: six times the timeout. */
const ABANDONED_AGE_MS = 60_000;

/** Does some work while no other process of this machine does it. */
export async function withMutex<Value>(mutex: Mutex, work: () => Promise<Value>): Promise<Value> {
	const end = performance.now() + TIMEOUT_MS;
	for (;;) {
		const leave = await mutex();
		if (leave !== undefined) {
			try {
				return await work();
			} finally {
				await leave();
			}
		}
		if (performance.now() > end) throw new Error(`another process has been taking the lock for ${TIMEOUT_MS} ms`);
		await sleep(POLL_MS);
	}
}

/**
 * A mutex by the name of an abstract Unix socket (unix(7)). The system gives the name to one process, and takes it back
 * when the process ends for any reason. Such names belong to a network namespace, so processes of two containers that
 * share a volume don't exclude each other. So the mutex may protect the taking of a lock, but is no lock itself.
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
 * A mutex by a second link of a file, which the file system creates once. When its process is killed, the link stays. It
 * counts as abandoned after a minute.
 *
 * @param nonce a text that no other process has
 */
export function linkMutex(path: string, nonce: string): Mutex {
	const own = `${path}.${nonce}`;
	const shared = `${path}.taking`;
	return async () => {
		writeFileSync(own, "", { mode: 0o600, flag: "wx" });
		try {
			linkSync(own, shared);
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
			const age = ageOf(shared);
			if (age !== undefined && age > ABANDONED_AGE_MS) removeFile(shared);
			return undefined;
		} finally {
			removeFile(own);
		}
		return async () => removeFile(shared);
	};
}

/**
 * Milliseconds between now and the time when a file was written; undefined where it does not exist. Where the clock was set back
 * since, that time lies ahead: such a file would never get old.
 */
export function ageOf(path: string): number | undefined {
	try {
		return Math.abs(Date.now() - statSync(path).mtimeMs);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
