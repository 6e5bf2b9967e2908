import type { Reservable, Reservation } from "../../rest/reservation.ts";
import type { Clock, Limiter } from "../types.ts";
import type { SharedPermit } from "./shared/permits.ts";
import { PermitSource } from "./permit-source.ts";
import { SlidingWindow } from "./sliding-window.ts";
import { Takers } from "./takers.ts";

/** What a request holds while it waits for its time. */
type Held = { connection: Reservation | undefined; permit: SharedPermit | undefined };

const CLOSED = "the limiter is closed";

/** A limiter whose rate changes while requests wait, and which can be paused. */
export type AdjustableLimiter = Limiter & {
	/** @param rate requests a second; undefined for no cap */
	setRate(rate: number | undefined): void;
	/** No request starts until `resume`. */
	pause(): void;
	resume(): void;
	/** From now on each request also takes a permit of a cap that other processes share. */
	share(cap: PermitQueue): void;
	/** From now on each request also holds a connection before its time has come. */
	reserveFrom(connections: Reservable): void;
	/** @param rate requests a second, whatever rate is set; undefined for no such limit */
	setCeiling(rate: number | undefined): void;
};

/** A cap that other processes share. */
export type PermitQueue = {
	take(signal: AbortSignal | undefined): Promise<SharedPermit>;
	/** milliseconds that a request waits for its permit even if no other process needs any */
	readonly lead: number;
	/** the service asked to slow down */
	slowDown(): void;
};

/** Milliseconds: a request that waits at the sliding window sees a new rate no later than that. */
const LONGEST_WINDOW_WAIT_MS = 250;

/**
 * The share of a cap above 100 requests a second that is used. On their way requests come closer together: with all of it, up
 * to 1.022 of a cap of 1,000 came within one second of the server's clock. This leaves 5 milliseconds of each second for that.
 * Up to 100 a second that is one request at most.
 */
const USED_SHARE = 0.995;
const FEW_PER_SECOND = 100;

/** Milliseconds, 12 days: a timer that does nothing but keep the process alive. */
const KEEP_ALIVE_MS = 2 ** 30;

/**
 * A limiter that lets no more than `rate` requests start in any sliding second, and about that many in every one.
 *
 * Bottleneck runs with a reservoir whose tokens come back one window after each was used. Its own refresh and increase
 * settings let bursts of 181 through. The sliding window checks the real times of sending, as late timers let bursts
 * pass.
 *
 * @param rate requests a second; undefined for no cap: then no request waits, and bottleneck is not used
 */
export function createLimiter(rate: number | undefined, clock: Clock): AdjustableLimiter {
	return new RateLimiter(rate, clock);
}

class RateLimiter implements AdjustableLimiter {
	readonly #clock: Clock;
	/** the rate of this process alone, and what is left of it by the ceiling */
	#own: number | undefined;
	#rate: number | undefined;
	#ceiling: number | undefined;
	#shared: PermitQueue | undefined;
	#connections: Reservable | undefined;
	#source: PermitSource | undefined;
	#window: SlidingWindow | undefined;
	readonly #takers = new Takers();
	#permits = 0;
	#closed = false;
	/** set while it is paused: nothing else keeps the process alive then */
	#paused: NodeJS.Timeout | undefined;
	/** Requests pass the window one after another, so that two can't both take the last free place. */
	#door: Promise<void> = Promise.resolve();

	constructor(rate: number | undefined, clock: Clock) {
		this.#clock = clock;
		this.setRate(rate);
	}

	take(signal?: AbortSignal): Promise<void> | undefined {
		if (this.#isLimited() || this.#shared !== undefined) return this.#wait(signal);
		signal?.throwIfAborted();
		return undefined;
	}

	get lead(): number {
		return this.#shared?.lead ?? 0;
	}

	slowDown(): void {
		this.#shared?.slowDown();
	}

	share(cap: PermitQueue): void {
		this.#shared = cap;
	}

	reserveFrom(connections: Reservable): void {
		this.#connections = connections;
	}

	setCeiling(rate: number | undefined): void {
		this.#ceiling = rate;
		this.setRate(this.#own);
	}

	setRate(own: number | undefined): void {
		this.#own = own;
		const limits = [own, this.#ceiling].filter((limit) => limit !== undefined);
		const cap = limits.length === 0 ? undefined : Math.min(...limits);
		const rate = cap === undefined || cap <= FEW_PER_SECOND ? cap : cap * USED_SHARE;
		this.#rate = rate;
		// Not the division's own window: where that is below a second, two bursts would fit into one second.
		const count = Math.ceil(cap ?? 0);
		this.#window = rate === undefined ? undefined : new SlidingWindow(count, (count * 1000) / rate, this.#window);
		this.#restart();
	}

	pause(): void {
		this.#paused ??= setInterval(() => undefined, KEEP_ALIVE_MS);
		this.#restart();
	}

	resume(): void {
		clearInterval(this.#paused);
		this.#paused = undefined;
		this.#restart();
	}

	close(): void {
		this.#closed = true;
		clearInterval(this.#paused);
		this.#takers.refuse(new Error(CLOSED));
		this.#source?.stop();
	}

	/** Begins to hand out permits at the present rate. The requests that wait stay in their order. */
	#restart(): void {
		this.#source?.stop();
		this.#source = undefined;
		this.#permits = 0;
		if (this.#closed || this.#paused !== undefined) return;
		if (this.#rate === undefined) {
			this.#takers.grant(this.#takers.length);
			return;
		}
		const onPermits = (count: number): void => {
			this.#permits += count;
			this.#handOut();
		};
		this.#source = new PermitSource(this.#rate, onPermits, () => this.#restart());
		this.#source.order(this.#takers.length);
	}

	async #wait(signal: AbortSignal | undefined): Promise<void> {
		this.#check(signal);
		if (this.#isLimited()) await this.#permit(signal);
		const held: Held = { connection: await this.#connections?.reserve(signal), permit: undefined };
		try {
			// Before the window: it sees when the request really goes out.
			held.permit = await this.#shared?.take(signal);
			const mine = this.#door.then(() => this.#pass(held, signal));
			this.#door = mine.catch(() => undefined);
			await mine;
		} catch (error) {
			held.connection?.drop();
			held.permit?.drop();
			throw error;
		}
	}

	/** Whether requests wait for permits of this process. */
	#isLimited(): boolean {
		return this.#rate !== undefined || this.#paused !== undefined;
	}

	async #pass(held: Held, signal: AbortSignal | undefined): Promise<void> {
		await this.#passWindow(signal);
		if (held.connection?.isGood() === false) {
			// Once: a service that closes each connection at once is the request's to tell.
			held.connection.drop();
			held.connection = undefined;
			held.connection = await this.#connections?.reserve(signal);
			await this.#passWindow(signal);
		}
		while (held.permit?.isGood() === false) {
			held.permit.drop();
			held.permit = undefined;
			held.permit = await this.#shared?.take(signal);
			await this.#passWindow(signal);
		}
		const clock = this.#clock;
		const window = this.#window;
		const place = window?.sent(clock.now()) ?? 0;
		held.permit?.used();
		// What a busy machine writes late must count as late. Otherwise the next second gets it too.
		held.connection?.used(() => window?.corrected(place, clock.now()));
	}

	async #passWindow(signal: AbortSignal | undefined): Promise<void> {
		for (;;) {
			// Also before the first delay: the signal may have aborted while this request waited for the others.
			this.#check(signal);
			if (this.#paused !== undefined) {
				// The pause has dropped its permit.
				await this.#permit(signal);
				continue;
			}
			const delay = this.#window?.delay(this.#clock.now()) ?? 0;
			if (delay === 0) return;
			await this.#clock.sleep(Math.min(delay, LONGEST_WINDOW_WAIT_MS), signal);
		}
	}

	#permit(signal: AbortSignal | undefined): Promise<void> {
		const granted = this.#takers.wait(signal);
		// The rest of an earlier batch is given out first: nothing else would give it out.
		this.#handOut();
		this.#source?.order(this.#takers.length - this.#permits);
		return granted;
	}

	#handOut(): void {
		this.#permits -= this.#takers.grant(this.#permits);
	}

	#check(signal: AbortSignal | undefined): void {
		signal?.throwIfAborted();
		if (this.#closed) throw new Error(CLOSED);
	}
}
