import { createHash, scrypt } from "node:crypto";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { Redis } from "ioredis";

/** The longest time of one call, in milliseconds: a Redis that is slower than that is away. */
export const CALL_MS = 500;

/** The longest time for a connection, in milliseconds, and the wait before the next is tried. */
const CONNECT_MS = 2000;
const RECONNECT_MS = 500;

/** Memory of one computation is 128 × N × r bytes, 16 MB; it takes some 50 ms. */
const COST = { N: 2 ** 14, r: 8, p: 1 };

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt);

type Ask = {
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

/** Requests a second that stand for "no cap" in Redis: more than any `--rate`. */
const NO_CAP = 1e9;

/** Milliseconds by which a permit's slot may lie back, so that late timers lose nothing. */
export const SLACK_MS = 20;

/**
 * The shared cap (GCRA), as one atomic script. It needs Redis 5: earlier releases allow no write after a call of TIME.
 *
 * One hash holds `slot`, the time of the next permit; `held`, the end of a cooldown; `born`, when the hash was made; and for
 * each run its cap and the time of its last call. A run without a call for 10 s has ended. The lowest cap of the runs counts.
 * Values out of range are replaced: a slot that no runs can have ordered means that the clock of the server was set back.
 * Times are in milliseconds.
 *
 * ARGV: the run, its cap, the permits that it takes (0 or 1), the milliseconds of a cooldown.
 */
export const SCRIPT = `
local key, time = KEYS[1], redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
redis.call('HSET', key, ARGV[1], string.format('%s %.3f', ARGV[2], now))
local all, state, runs, cap = redis.call('HGETALL', key), {}, 0, ${NO_CAP}
for i = 1, #all, 2 do
  local its, seen = string.match(all[i + 1], '^(%S+) (%S+)$')
  if not seen then state[all[i]] = all[i + 1]
  elseif (tonumber(its) or 0) >= 0.01 and math.abs(now - (tonumber(seen) or 0)) < 10000 then
    runs, cap = runs + 1, math.min(cap, its)
  else redis.call('HDEL', key, all[i]) end
end
local born, held = state.born or string.format('%.3f', now), tonumber(state.held) or 0
local slot = math.max(now - ${SLACK_MS}, tonumber(state.slot) or 0)
if not (held - now < 86400000) then held = 0 end
if not (slot - now < 1000 + runs * (1000 + 2000 / cap)) then slot = now end
held = math.max(now + ARGV[4], held)
local times = { string.format('%.3f', slot + ARGV[3] * 1000 / cap), string.format('%.3f', held) }
redis.call('HSET', key, 'slot', times[1], 'held', times[2], 'born', born)
redis.call('PEXPIRE', key, 3600000)
return string.format('%.3f %d %.17g %.3f %s %.3f', slot - now, runs, cap, held - now, born, now)
`;

/** The rights of a user of Redis that the limiter needs, as `ACL SETUSER` takes them. The last is for another database than 0. */
export const RIGHTS = "~ragtag:limiter:* +eval +evalsha +time +hset +hgetall +hdel +pexpire +select";

export type Answer = {
	/** milliseconds from now to the permit's slot, -20 or more */
	readonly wait: number;
	/** runs that share the cap, this one included */
	readonly runs: number;
	/** the lowest cap of any run; undefined for no cap */
	readonly cap: number | undefined;
	/** milliseconds for which the service asked any run to send nothing */
	readonly cooldown: number;
	/** another text than before: Redis has lost what it held */
	readonly born: string;
	/** milliseconds, by the clock of Redis: when it answered */
	readonly time: number;
};

/** @throws Error for an answer of another form, or with a number that can't be right */
export function answerOf(text: unknown): Answer {
	const [wait = NaN, runs = NaN, cap = NaN, cooldown = NaN, born = NaN, time = NaN] = String(text)
		.split(" ")
		.map(Number);
	const isSound = wait >= -SLACK_MS && runs >= 1 && cap > 0 && cooldown >= 0 && born > 0 && time > 0;
	if (!isSound || !Number.isFinite(wait + cooldown)) throw new Error(`a limiter gives no such answer: ${String(text)}`);
	return { wait, runs, cap: cap < NO_CAP ? cap : undefined, cooldown, born: String(born), time };
}
