import type { Activity, WorkCount } from "../../activity.ts";
import { RestError } from "../../rest/errors.ts";
import type { Clock, Stop } from "../types.ts";
import { Cooldown } from "./cooldown.ts";
import { ListsInFlight, LiveCounts, shortText } from "./current-work.ts";
import type { OngoingOutage } from "./outage.ts";
import { Latencies, type Pace, SlowSeconds, type Slowness, slownessText } from "./slow-seconds.ts";

/** The states that a command gives itself. All others are caused by the service or the user. */
type Phase = "checking" | "reading" | "running" | "verifying";

/** The run ends, or the user pauses it. */
type Halt = { readonly state: "stopping" | "paused"; readonly cause: string | undefined; readonly since: number };

/** The parts of a run from which the state is read. */
type Watched = {
	readonly outage: { readonly ongoing: OngoingOutage | undefined };
	/** why requests are sent more slowly than they may be; undefined where they are not */
	readonly slowness: () => Slowness | undefined;
	/** requests that may be in flight now */
	readonly concurrency: () => number;
	/** requests a second at most; undefined for no cap */
	readonly cap: () => number | undefined;
};

/**
 * The state of a command, its cause, and how long each cause made it slower. It only observes: cooldown, outage, controller
 * and shutdown decide, and are read here.
 */
export class RunMonitor {
	readonly #clock: Clock;
	/** the one cooldown of the process */
	readonly cooldown: Cooldown;
	/** what the command does while neither the service nor the user holds it up; undefined before it has begun */
	#work: { readonly phase: Phase; readonly what: string | undefined; readonly since: number } | undefined;
	/** how much of that is done */
	#count: WorkCount | undefined;
	/** the next attempt, until a request succeeds: `2 of 6`, when it follows, and why the one before it failed */
	#again: { readonly attempt: string; readonly at: number; readonly cause: string } | undefined;
	#watched: Watched | undefined;
	/** the cap with which the rows began */
	#firstCap: number | undefined;
	#paused: Halt | undefined;
	#stop: Halt | undefined;
	/** the status with which the service asked to slow down last */
	#status = "429";
	#slowSince: number | undefined;
	#began: number;
	#accounted: number;
	/** the cause that holds since then, besides a pause and a wait */
	#cause: string | undefined;
	#requests = 0;
	#latency = 0;
	#slow = new SlowSeconds(() => this.#watched?.cap());
	/** requests of the whole command: those that went out, and those that are in flight now */
	sentInAll = 0;
	inFlight = 0;
	/** rows that stay pending at the end of the run, though they may have been written */
	inDoubt = 0;
	/** the lists that are read; each reader reports to it */
	readonly lists: ListsInFlight;
	/** work that settles no row yet */
	readonly live = new LiveCounts();
	/** of the requests that ended since they were taken last */
	readonly latencies = new Latencies();
	/** requests a second that `--rate auto` allows now; undefined where the rate is not looked for */
	searched: () => number | undefined = () => undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
		this.cooldown = new Cooldown(clock);
		this.lists = new ListsInFlight(clock);
		this.#began = this.#accounted = clock.now();
	}

	/** @param what a few words that say what is done: `tags.csv` */
	enter(phase: Phase, what?: string): void {
		this.#stop = undefined;
		if (phase === this.#work?.phase && what === this.#work.what) return;
		this.#work = { phase, what, since: this.#clock.now() };
		this.#count = undefined;
		this.lists.current = undefined;
	}

	/** How much of the phase is done. */
	count(count: WorkCount): void {
		this.#count = count;
	}

	/** The first row is about to start: the pace and the causes are counted from here. */
	begin(watched: Watched): void {
		this.#watched = watched;
		this.#firstCap = watched.cap();
		this.#began = this.#accounted = this.#clock.now();
		this.#requests = 0;
		this.#latency = 0;
		this.#slow = new SlowSeconds(watched.cap);
	}

	stopping(stop: Stop | undefined): void {
		this.#stop ??= { state: "stopping", cause: stop?.text, since: this.#clock.now() };
	}

	/** The user pauses the run, or goes on. @param by what the pause came from, in a few words; undefined where it is over */
	paused(by: string | undefined): void {
		this.account();
		this.#paused = by === undefined ? undefined : { state: "paused", cause: by, since: this.#clock.now() };
	}

	/** An attempt failed before any answer of the service, and number `next` of `allowed` follows in `wait` milliseconds. */
	tryingAgain(error: RestError, { next, allowed, wait }: { next: number; allowed: number; wait: number }): void {
		// `--max-outage` may allow more for the first answer.
		const attempt = next <= allowed ? `${next} of ${allowed}` : String(next);
		this.#again = { attempt, at: this.#clock.now() + wait, cause: shortText(error) };
	}

	/** A request goes out. */
	sent(): void {
		this.inFlight += 1;
		this.sentInAll += 1;
		this.#slow.sent();
		this.account();
	}

	/** It succeeded. @param at when it went out, on the clock */
	answered(at: number): void {
		this.#again = undefined;
		this.#ended(at);
	}

	/** It failed. */
	failed(at: number, error: unknown): void {
		if (error instanceof RestError && error.kind === "throttled") {
			// RAGFlow says it in an envelope under status 200, too.
			this.#status = error.status === undefined || error.status < 300 ? "429" : String(error.status);
		}
		this.#ended(at);
	}

	#ended(at: number): void {
		const milliseconds = this.#clock.now() - at;
		this.inFlight -= 1;
		this.#requests += 1;
		this.#latency += milliseconds;
		this.latencies.add(milliseconds);
		this.account();
	}

	/** Counts the time since the last call. Called whenever a part of the run may have changed its state. */
	account(): void {
		const now = this.#clock.now();
		const from = this.#accounted;
		this.#accounted = now;
		const waited = Math.max(0, Math.min(now, this.cooldown.until) - Math.max(from, this.cooldown.since));
		if (this.#paused !== undefined) this.#slow.add("paused", now - from);
		else if (this.#cause === "outage") this.#slow.add("outage", now - from);
		else {
			this.#slow.add(this.#status, waited);
			this.#slow.add(this.#cause, now - from - waited);
		}
		const slowness = this.#watched?.slowness();
		this.#slowSince = slowness === undefined ? undefined : (this.#slowSince ?? now);
		this.#cause = this.#causeOf(slowness?.cause);
	}

	#causeOf(slowness: Slowness["cause"] | undefined): string | undefined {
		const watched = this.#watched;
		if (watched?.outage.ongoing !== undefined) return "outage";
		if (slowness !== undefined && slowness !== "latency") return "slowed";
		const isFull = watched !== undefined && this.inFlight >= watched.concurrency();
		return slowness === "latency" || isFull ? "concurrency" : undefined;
	}

	/** What the command is doing now; undefined before it has begun. */
	current(): Activity | undefined {
		this.account();
		const halt = this.#stop ?? this.#paused;
		if (halt !== undefined) return { state: halt.state, cause: halt.cause, seconds: this.#seconds(halt.since) };
		const outage = this.#watched?.outage.ongoing;
		if (outage !== undefined) {
			const { error, lasted, limit, probeIn } = outage;
			const times = { seconds: lasted / 1000, of: limit / 1000, next: probeIn / 1000 };
			return { state: "outage", cause: shortText(error), ...times };
		}
		const { left, until, since } = this.cooldown;
		if (left > 0) {
			const cause = `the service asked for it (${this.#status})`;
			return { state: "waiting", cause, seconds: this.#seconds(since), of: (until - since) / 1000 };
		}
		const activity = this.#slowed() ?? this.#working();
		return activity && { ...activity, auto: this.searched(), cap: this.#watched?.cap(), ...this.live.shown };
	}

	#slowed(): Activity | undefined {
		const slowness = this.#watched?.slowness();
		if (this.#work?.phase === "verifying" || slowness === undefined) return undefined;
		const rate = { now: slowness.now, cap: this.#watched?.cap() };
		const cause = slownessText(slowness, this.inFlight);
		return { state: "slowed", cause, seconds: this.#seconds(this.#slowSince ?? this.#clock.now()), rate };
	}

	#working(): Activity | undefined {
		const { phase, what, since = 0 } = this.#work ?? {};
		const again = this.#again && {
			cause: this.#again.cause,
			again: { attempt: this.#again.attempt, seconds: Math.max(0, this.#again.at - this.#clock.now()) / 1000 },
		};
		const list = phase === "running" ? undefined : this.lists.current;
		// A manifest's check asks the service only now and then. Other commands are known by their last list.
		if (list !== undefined && (this.lists.inFlight > 0 || phase !== "checking")) {
			const state = phase === "verifying" ? "verifying" : "reading";
			const count = list.count.done === 0 ? undefined : list.count;
			return { state, what: list.what, count, seconds: this.#seconds(list.since), ...again };
		}
		return phase && { state: phase, what, count: this.#count, seconds: this.#seconds(since), ...again };
	}

	/** Seconds since a time of the clock. */
	#seconds(since: number): number {
		return Math.max(0, this.#clock.now() - since) / 1000;
	}

	/** The speed of the run until now, and the causes that made it slower. */
	pace(): Pace {
		this.account();
		const slow = [...this.#slow.milliseconds()].map(([cause, ms]) => ({ cause, seconds: Math.round(ms) / 1000 }));
		const cap = this.#watched?.cap();
		return {
			requests: this.#requests,
			seconds: (this.#clock.now() - this.#began) / 1000,
			latency: this.#requests === 0 ? 0 : this.#latency / this.#requests,
			concurrency: this.#watched?.concurrency() ?? 0,
			cap: cap === this.#firstCap ? cap : undefined,
			slow: slow.filter(({ seconds }) => seconds > 0),
		};
	}
}
