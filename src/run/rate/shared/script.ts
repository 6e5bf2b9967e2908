/** Milliseconds for which a permit is good, from the time at which it may be used. A later use needs another permit. */
export const LEASE_MS = 1000;

/** Milliseconds after which a run that sent nothing to Redis counts as ended. */
const SEEN_MS = 10_000;

/** Milliseconds that a request may be waited for in Redis: a run takes no permit for a later time. */
const HORIZON_MS = 1000;

/** Milliseconds of permits that late timers may make up for. */
const SLACK_MS = 30;

/**
 * Milliseconds of the window of a cap that is a whole number. It is longer than a second, as some requests need a little more
 * time to the service than others: the service counts when they arrive.
 */
const WINDOW_MS = 1002;

/** Milliseconds after which Redis forgets what nothing uses. */
const KEPT_MS = 3_600_000;

/**
 * The shared window, as one atomic script. It needs Redis 5: earlier releases allow no write after a call of TIME.
 *
 * Every permit that may still be used, or was used less than a second ago, is an entry with the time at which it leaves the
 * window. The entry of a permit leaves at the last time at which it may be used, plus the window; once its run reports the
 * real time of sending, it leaves one window after that. A permit is given for the first time, now or soon, at which fewer
 * entries than the cap are left. So no sliding second holds more requests than the cap, however late a process is.
 *
 * The rules of a lowered rate are those of `LoweredRate`.
 *
 * KEYS: the state, the window, the runs. ARGV: the run, its cap (0 for none), the permits that it wants (-1: it ends),
 * whether the service asked to slow down, the milliseconds of a new cooldown; then for each report a permit's name ("" for
 * requests that were sent without one), the number of requests sent, and the milliseconds since the last of them.
 */
export const SCRIPT = `
local state, window, runs = KEYS[1], KEYS[2], KEYS[3]
local me, want = ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local fields = { 'last', 'next', 'sum', 'seq', 'held', 'lowered', 'level', 'rises', 'starts', 'cut', 'cuts' }
local values = redis.call('HMGET', state, unpack(fields))
local s = {}
for i, field in ipairs(fields) do s[field] = tonumber(values[i] or '') or 0 end

-- The clock of the server was set back: the times of the entries mean nothing now.
if now + 1000 < s.last then
  redis.call('DEL', window)
  s.next, s.held, s.lowered = 0, 0, 0
end
s.last = now

redis.call('HSET', runs, me, string.format('%s %.3f', ARGV[2], now))
if want < 0 then redis.call('HDEL', runs, me) end
local number, cap = 0, 0
local all = redis.call('HGETALL', runs)
for i = 1, #all, 2 do
  local its, seen = string.match(all[i + 1], '^(%S+) (%S+)$')
  its, seen = tonumber(its), tonumber(seen)
  if math.abs(now - seen) > ${SEEN_MS} then redis.call('HDEL', runs, all[i])
  else
    number = number + 1
    if its > 0 and (cap == 0 or its < cap) then cap = its end
  end
end
local most = math.ceil(cap)
local period = cap > 0 and most * ${WINDOW_MS} / cap or ${WINDOW_MS}

local function countOf(entry) return tonumber(string.match(entry, ':(%d+)$')) end
local function enter(name, count, leaves)
  redis.call('ZADD', window, string.format('%.3f', leaves), name .. ':' .. count)
  s.sum = s.sum + count
end
local function name()
  s.seq = s.seq + 1
  return string.format('%d', s.seq)
end
for i = 6, #ARGV, 3 do
  local permit, count, leaves = ARGV[i], tonumber(ARGV[i + 1]), now - tonumber(ARGV[i + 2]) + period
  if permit == '' then permit = name()
  elseif redis.call('ZREM', window, permit) == 1 then s.sum = s.sum - countOf(permit) end
  if count > 0 and leaves > now then enter(string.match(permit, '^%d+'), count, leaves) end
end
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', window, '-inf', string.format('%.3f', now))) do
  s.sum = s.sum - countOf(entry)
end
redis.call('ZREMRANGEBYSCORE', window, '-inf', string.format('%.3f', now))
if redis.call('ZCARD', window) == 0 then s.sum = 0 end

local floor = math.min(0.5, cap)
local function level(at)
  if s.lowered ~= 1 then s.lowered, s.level, s.rises, s.starts = 1, cap, at, 0 end
  return math.min(cap, s.level + 0.05 * cap * math.max(0, at - s.rises) / 1000)
end
if tonumber(ARGV[4]) == 1 and now - s.cut >= 1000 then
  s.level = math.max(floor, level(now) * 0.7)
  s.cut, s.rises, s.cuts = now, math.max(now, s.rises), s.cuts + 1
end
local cooldown = tonumber(ARGV[5])
if cooldown > 0 and now + cooldown > s.held then
  s.held = now + cooldown
  s.level = level(now)
  s.rises, s.starts = s.held, s.held
end

local slot, given, permit = math.max(now, s.held), 0, '0:0'
if want > 0 and cap > 0 then
  given = math.min(want, most)
  local rate = cap
  if s.lowered == 1 then
    local full = level(now)
    rate = full
    if s.starts > 0 then
      rate = math.max(floor, full * 0.25 * 2 ^ math.floor(math.max(0, now - s.starts) / 1000))
      if rate >= full then s.starts, rate = 0, full end
    end
    if rate >= cap then s.lowered = 0 end
  end
  s.next = math.max(s.next, now - ${SLACK_MS})
  slot = math.max(slot, s.next)
  local missing, from = s.sum + given - most, 0
  while missing > 0 do
    local part = redis.call('ZRANGE', window, from, from + 31, 'WITHSCORES')
    if #part == 0 then break end
    for i = 1, #part, 2 do
      if missing > 0 then
        missing = missing - countOf(part[i])
        slot = math.max(slot, tonumber(part[i + 1]))
      end
    end
    from = from + 32
  end
  if slot - now > ${HORIZON_MS} then given = 0
  else
    permit = name()
    enter(permit, given, slot + ${LEASE_MS} + period)
    permit = permit .. ':' .. given
    s.next = math.max(s.next, slot - ${SLACK_MS}) + given * 1000 / rate * (s.lowered == 1 and 1 or 0.97)
  end
end

local fresh = {}
for _, field in ipairs(fields) do
  fresh[#fresh + 1] = field
  fresh[#fresh + 1] = string.format('%.3f', s[field])
end
redis.call('HSET', state, unpack(fresh))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${KEPT_MS}) end
return string.format('%s %d %.3f %d %s %.3f %d', permit, given, math.max(0, slot - now), number, tostring(cap),
  math.max(0, s.held - now), s.cuts)
`;

/** The rights of a user of Redis that the script needs, as `ACL SETUSER` takes them. The last is for a database other than 0. */
export const RIGHTS =
	"~ragtag:limiter:* +eval +evalsha +time +hmget +hset +hdel +hgetall +zadd +zrem +zcard +zrange +zrangebyscore +zremrangebyscore +del +pexpire +select";

/** What a run tells and asks in one call. */
export type Ask = {
	/** a name that no other run has */
	readonly run: string;
	/** the most requests a second that this run allows all of them; undefined for no cap */
	readonly cap: number | undefined;
	/** permits that are wanted at most */
	readonly want: number;
	/** the run ends: it needs no share of the cap */
	readonly ends?: boolean;
	/** the service asked to slow down */
	readonly slowDown: boolean;
	/** milliseconds for which the service asked to send nothing; 0 for none */
	readonly cooldown: number;
	/** the requests that were sent since the last call */
	readonly sent: readonly Sent[];
};

/** Requests that were sent by one permit; an empty name for those that were sent without one. `age`: milliseconds. */
export type Sent = { readonly permit: string; readonly count: number; readonly age: number };

/** The state of all runs, and a permit. */
export type Answer = {
	readonly permit: string;
	/** requests that it allows; 0 for no permit */
	readonly count: number;
	/** milliseconds until the permit is good; where there is none, until one may be */
	readonly wait: number;
	/** runs that share the cap, this one included */
	readonly runs: number;
	/** the lowest cap of any run; undefined for no cap */
	readonly cap: number | undefined;
	/** milliseconds for which the service asked to send nothing */
	readonly cooldown: number;
	/** how many times the service has asked any run to slow down */
	readonly cuts: number;
};

/** The arguments of the script. */
export function argumentsOf({ run, cap = 0, want, ends = false, slowDown, cooldown, sent }: Ask): string[] {
	const reports = sent.flatMap(({ permit, count, age }) => [permit, String(count), age.toFixed(3)]);
	const wanted = ends ? -1 : want;
	return [run, String(cap), String(wanted), slowDown ? "1" : "0", cooldown.toFixed(3), ...reports];
}

/** @throws Error for an answer of another form */
export function answerOf(text: unknown): Answer {
	const parts = typeof text === "string" ? text.split(" ") : [];
	const [permit = "", ...rest] = parts;
	const [count, wait, runs, cap, cooldown, cuts] = rest.map(Number);
	const numbers = [count, wait, runs, cap, cooldown, cuts];
	if (parts.length !== 1 + numbers.length || !numbers.every(Number.isFinite)) {
		throw new Error("the answer of the shared limiter is not its own");
	}
	const known = (value: number | undefined): number => value ?? 0;
	return {
		permit,
		count: known(count),
		wait: known(wait),
		runs: known(runs),
		cap: known(cap) === 0 ? undefined : known(cap),
		cooldown: known(cooldown),
		cuts: known(cuts),
	};
}
