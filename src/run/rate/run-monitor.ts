import type { Activity, WorkCount } from "../../activity.ts";
import { RestError } from "../../rest/errors.ts";
import type { Clock, Stop } from "../types.ts";
import type { Cooldown } from "./cooldown.ts";
import { CurrentWork, type ListsInFlight, LiveCounts, type Phase, nextAttempt, shortText } from "./current-work.ts";
import type { OngoingOutage } from "./outage.ts";
import { Latencies, type Pace, SlowSeconds, type Slowness, slownessText } from "./slow-seconds.ts";

const OUTAGE = "outage";
const SLOWED = "slowed";
const CONCURRENCY = "concurrency";
const PAUSED = "paused";

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
	readonly #cooldown: Cooldown;
	readonly #work: CurrentWork;
	#watched: Watched | undefined;
	#paused: { readonly by: string; readonly since: number } | undefined;
	#stop: { readonly text: string | undefined; readonly since: number } | undefined;
	/** the status with which the service asked to slow down last */
	#status = "429";
	#slowSince: number | undefined;

	/** requests a second that `--rate auto` allows now */
	#searched: () => number | undefined = () => undefined;

	#began: number;
	#accounted: number;
	/** the cause that holds since then, besides a pause and a wait */
	#cause: string | undefined;
	#inFlight = 0;
	/** rows that stay pending at the end of the run, though they may have been written */
	inDoubt = 0;
	#requests = 0;
	#latency = 0;
	#sent = 0;
	/** work that settles no row yet */
	readonly live = new LiveCounts();
	/** of the requests that ended since they were taken last */
	readonly latencies = new Latencies();
	readonly #slow = new SlowSeconds(() => this.#watched?.cap());

	constructor(clock: Clock, cooldown: Cooldown) {
		this.#clock = clock;
		this.#cooldown = cooldown;
		this.#work = new CurrentWork(clock);
		this.#began = this.#accounted = clock.now();
	}

	/** @param what a few words that say what is done: `tags.csv` */
	enter(phase: Phase, what?: string): void {
		this.#work.enter(phase, what);
		this.#stop = undefined;
	}

	/** How much of the phase is done. */
	count(count: WorkCount): void {
		this.#work.count = count;
	}

	/** The lists that are read; each reader reports to it. */
	get lists(): ListsInFlight {
		return this.#work.lists;
	}

	/** The first row is about to start: the pace and the causes are counted from here. */
	begin(watched: Watched): void {
		this.#watched = watched;
		this.#began = this.#accounted = this.#clock.now();
		this.#requests = 0;
		this.#latency = 0;
		this.#slow.clear();
	}

	/** The rate is looked for. @param rate requests a second that are allowed now; undefined while it is not looked for */
	searching(rate: () => number | undefined): void {
		this.#searched = rate;
	}

	stopping(stop: Stop | undefined): void {
		this.#stop ??= { text: stop?.text, since: this.#clock.now() };
	}

	/** The user pauses the run. @param by what the pause came from, in a few words */
	paused(by: string): void {
		this.account();
		this.#paused = { by, since: this.#clock.now() };
	}

	/** The pause is over. */
	continued(): void {
		this.account();
		this.#paused = undefined;
	}

	/** An attempt failed before any answer of the service, and number `next` of `allowed` follows in `wait` milliseconds. */
	tryingAgain(error: RestError, { next, allowed, wait }: { next: number; allowed: number; wait: number }): void {
		this.#work.again = nextAttempt(error, next, allowed, this.#clock.now() + wait);
	}

	/** A request goes out. */
	sent(): void {
		this.#inFlight += 1;
		this.#sent += 1;
		this.#slow.sent();
		this.account();
	}

	/** It succeeded. @param at when it went out, on the clock */
	answered(at: number): void {
		this.#work.again = undefined;
		this.#ended(at);
	}

	/** It failed. */
	failed(at: number, error: unknown): void {
		if (error instanceof RestError && error.kind === "throttled") this.#throttled(error);
		this.#ended(at);
	}

	/** Counts the time since the last call. Called whenever a part of the run may have changed its state. */
	account(): void {
		const now = this.#clock.now();
		const from = this.#accounted;
		this.#accounted = now;
		const waited = Math.max(0, Math.min(now, this.#cooldown.until) - Math.max(from, this.#cooldown.since));
		if (this.#paused !== undefined) this.#slow.add(PAUSED, now - from);
		else if (this.#cause === OUTAGE) this.#slow.add(OUTAGE, now - from);
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
		if (watched?.outage.ongoing !== undefined) return OUTAGE;
		if (slowness !== undefined && slowness !== "latency") return SLOWED;
		const isFull = watched !== undefined && this.#inFlight >= watched.concurrency();
		return slowness === "latency" || isFull ? CONCURRENCY : undefined;
	}

	/** What the command is doing now; undefined before it has begun. */
	current(): Activity | undefined {
		this.account();
		const now = this.#clock.now();
		const since = (start: number): number => Math.max(0, now - start) / 1000;
		if (this.#stop !== undefined)
			return { state: "stopping", cause: this.#stop.text, seconds: since(this.#stop.since) };
		if (this.#paused !== undefined)
			return { state: "paused", cause: this.#paused.by, seconds: since(this.#paused.since) };
		const outage = this.#watched?.outage.ongoing;
		if (outage !== undefined) {
			const cause = shortText(outage.error);
			const next = outage.probeIn / 1000;
			return { state: "outage", cause, seconds: outage.lasted / 1000, of: outage.limit / 1000, next };
		}
		const { cooldown, asked } = { cooldown: this.#cooldown, asked: `the service asked for it (${this.#status})` };
		if (cooldown.left > 0) {
			const of = (cooldown.until - cooldown.since) / 1000;
			return { state: "waiting", cause: asked, seconds: since(cooldown.since), of };
		}
		const activity = this.#slowed(since) ?? this.#work.activity();
		return activity && { ...activity, auto: this.#searched(), cap: this.#watched?.cap(), ...this.live.shown };
	}

	get inFlight(): number {
		return this.#inFlight;
	}

	/** Requests that went out, of the whole command. */
	get sentInAll(): number {
		return this.#sent;
	}

	/** The speed of the run until now, and the causes that made it slower. */
	pace(): Pace {
		this.account();
		const slow = [...this.#slow.milliseconds()]
			.map(([cause, milliseconds]) => ({ cause, seconds: Math.round(milliseconds) / 1000 }))
			.filter(({ seconds }) => seconds > 0);
		return {
			requests: this.#requests,
			seconds: (this.#clock.now() - this.#began) / 1000,
			latency: this.#requests === 0 ? 0 : this.#latency / this.#requests,
			concurrency: this.#watched?.concurrency() ?? 0,
			slow,
		};
	}

	#slowed(since: (start: number) => number): Activity | undefined {
		const slowness = this.#watched?.slowness();
		if (this.#work.phase === "verifying" || slowness === undefined) return undefined;
		const rate = { now: slowness.now, cap: this.#watched?.cap() };
		const cause = slownessText(slowness, this.#inFlight);
		return { state: "slowed", cause, seconds: since(this.#slowSince ?? this.#clock.now()), rate };
	}

	#ended(at: number): void {
		this.account();
		this.#inFlight -= 1;
		this.#requests += 1;
		const milliseconds = this.#clock.now() - at;
		this.#latency += milliseconds;
		this.latencies.add(milliseconds);
	}

	#throttled(error: RestError): void {
		// RAGFlow says it in an envelope under status 200, too.
		this.#status = error.status === undefined || error.status < 300 ? "429" : String(error.status);
	}
}
