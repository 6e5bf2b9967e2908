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
		// It would call INFO, which a user of few rights may not.
		enableReadyCheck: false,
		...(url.protocol === "rediss:" && ca.length > 0 ? { tls: { ca: [...rootCertificates, ...ca] } } : {}),
	});
	// Each failure is also the failure of a call, which reports it; the first says why there is no connection.
	let failure: Error | undefined;
	redis.on("error", (error: Error) => (failure = error));
	// One hash slot, as a script may touch keys of one node alone.
	const keys = ["state", "window", "runs"].map((part) => `${PREFIX}:{${name}}:${part}`);
	const digest = createHash("sha1").update(SCRIPT).digest("hex");
	let connected: Promise<unknown> | undefined;
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
			connected ??= redis.connect().catch((error: unknown) => {
				throw failure ?? error;
			});
			await connected;
			return answerOf(await run(argumentsOf(ask)));
		},
		close: () => redis.disconnect(),
	};
}
