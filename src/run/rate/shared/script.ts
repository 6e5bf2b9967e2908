/** Requests a second that stand for "no cap" in Redis: more than any `--rate`. */
export const NO_CAP = 1e9;

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
return string.format('%.3f %d %.17g %.3f %s', slot - now, runs, cap, held - now, born)
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
};

/** @throws Error for an answer of another form, or with a number that can't be right */
export function answerOf(text: unknown): Answer {
	const [wait = NaN, runs = NaN, cap = NaN, cooldown = NaN, born = NaN] = String(text).split(" ").map(Number);
	const isSound = wait >= -SLACK_MS && runs >= 1 && cap > 0 && cooldown >= 0 && born > 0;
	if (!isSound || !Number.isFinite(wait + cooldown)) throw new Error(`a limiter gives no such answer: ${String(text)}`);
	return { wait, runs, cap: cap < NO_CAP ? cap : undefined, cooldown, born: String(born) };
}
