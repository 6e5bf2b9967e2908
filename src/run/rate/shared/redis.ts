import { createHash, scrypt } from "node:crypto";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { type Answer, answerOf, NO_CAP, SCRIPT } from "./script.ts";

/** The longest time of one call, in milliseconds: a Redis that is slower than that is away. */
export const CALL_MS = 500;

/** The longest time for a connection, in milliseconds, and the wait before the next is tried. */
const CONNECT_MS = 2000;
const RECONNECT_MS = 500;

/** Memory of one computation is 128 × N × r bytes, 16 MB; it takes some 50 ms. */
const COST = { N: 2 ** 14, r: 8, p: 1 };

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt);

export type Ask = {
	/** a name that no other run has */
	readonly run: string;
	/** the most requests a second that this run allows all of them; undefined for no cap */
	readonly cap: number | undefined;
	readonly permits: 0 | 1;
	/** milliseconds for which the service asked to send nothing; 0 for none */
	readonly cooldown: number;
};

/** Redis, as the shared cap needs it. */
export type Store = ReturnType<typeof redisStore>;

/**
 * The name in Redis of the cap of one service and one key.
 *
 * Every machine computes it from its own settings, so no further secret is needed. The name does not reveal the key. A reader
 * of Redis can still guess keys and compare. The address is the salt, so a table made in advance does not help, and scrypt
 * makes each guess slow. A random key, as services make them, can't be guessed.
 */
export async function nameOfCap(baseUrl: string, key: string): Promise<string> {
	const name = await derive(key, `ragtag shared limiter\n${baseUrl}`, 12, COST);
	return `ragtag:limiter:${name.toString("hex")}`;
}

/** Redis at an address. It connects at the first call, and again whenever the connection was lost. */
export function redisStore(url: URL, name: string, ca: readonly string[]) {
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
	const digest = createHash("sha1").update(SCRIPT).digest("hex");
	let connected: Promise<void> | undefined;
	const connect = async (): Promise<void> => {
		await redis.connect();
		// The client sends both too, but calls before it knows the answers: as the user that needs no password, in database 0.
		const [user, password] = [url.username, url.password].map(decodeURIComponent);
		if (password) await (user ? redis.auth(user, password) : redis.auth(password));
		const database = Number(url.pathname.slice(1));
		if (database > 0) await redis.select(database);
	};
	const evaluate = async (values: readonly string[]): Promise<unknown> => {
		try {
			return await redis.evalsha(digest, 1, name, ...values);
		} catch (error) {
			if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
			return redis.eval(SCRIPT, 1, name, ...values);
		}
	};
	return {
		/** Ends within a bounded time. Rejects where Redis did not answer by then, or refused. */
		call: async ({ run, cap = NO_CAP, permits, cooldown }: Ask): Promise<Answer> => {
			failure = undefined;
			try {
				await (connected ??= connect());
				return answerOf(await evaluate([run, String(cap), String(permits), cooldown.toFixed(3)]));
			} catch (error) {
				// The other errors of the client only say that there is no connection.
				throw error instanceof Error && error.name === "ReplyError" ? error : (failure ?? error);
			}
		},
		/** A run ends: it needs no share of the cap. */
		leave: async (run: string): Promise<void> => void (await redis.hdel(name, run)),
		close: (): void => redis.disconnect(),
	};
}
