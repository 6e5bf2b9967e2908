import { createHash } from "node:crypto";
import { rootCertificates } from "node:tls";
import { Redis } from "ioredis";
import { argumentsOf, answerOf, SCRIPT } from "./script.ts";
import type { Store } from "./store.ts";

/** The longest time of one call, in milliseconds: a Redis that is slower than that is away. */
const CALL_MS = 500;

/** The longest time for a connection, in milliseconds, and the longest wait before the next is tried. */
const CONNECT_MS = 2000;
const RECONNECT_MS = 500;

/** A key of Redis is deleted or read by no other program by mistake. */
const PREFIX = "ragtag:limiter";

/**
 * Redis at an address. It connects at the first call, and again whenever the connection was lost.
 *
 * @param name of the cap, as `nameOfCap` gives it
 * @param ca further certificates to trust
 */
export function redisStore(url: URL, name: string, ca: readonly string[]): Store {
	const redis = new Redis(url.href, {
		lazyConnect: true,
		connectTimeout: CONNECT_MS,
		commandTimeout: CALL_MS,
		// A call that can't be sent now is not sent later: its permit would be too old.
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		autoResendUnfulfilledCommands: false,
		retryStrategy: () => RECONNECT_MS,
		// They would call INFO and CLIENT, which a user of few rights may not.
		enableReadyCheck: false,
		disableClientInfo: true,
		...(url.protocol === "rediss:" && ca.length > 0 ? { tls: { ca: [...rootCertificates, ...ca] } } : {}),
	});
	// Each failure is also the failure of a call, which reports it; the first says why there is no connection.
	let failure: Error | undefined;
	redis.on("error", (error: Error) => (failure = error));
	// One hash slot, as a script may touch keys of one node alone.
	const keys = ["state", "window", "runs"].map((part) => `${PREFIX}:{${name}}:${part}`);
	const digest = createHash("sha1").update(SCRIPT).digest("hex");
	let connected: Promise<unknown> | undefined;
	const database = Number(url.pathname.slice(1));
	const [user, password] = [url.username, url.password].map(decodeURIComponent);
	const connect = async (): Promise<void> => {
		await redis.connect();
		// The client sends both too, but calls before it knows the answers: as the user that needs no password, in database 0.
		if (password) await (user ? redis.auth(user, password) : redis.auth(password));
		if (database > 0) await redis.select(database);
	};
	const run = async (values: readonly string[]): Promise<unknown> => {
		try {
			return await redis.evalsha(digest, keys.length, ...keys, ...values);
		} catch (error) {
			if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
			return redis.eval(SCRIPT, keys.length, ...keys, ...values);
		}
	};
	return {
		call: async (ask) => {
			failure = undefined;
			try {
				await (connected ??= connect());
				return answerOf(await run(argumentsOf(ask)));
			} catch (error) {
				// The other errors of the client only say that there is no connection.
				throw error instanceof Error && error.name === "ReplyError" ? error : (failure ?? error);
			}
		},
		close: () => redis.disconnect(),
	};
}
