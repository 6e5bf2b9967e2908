import type { Clock } from "../../types.ts";
import { Batch, type SharedPermit } from "./permits.ts";

/** A request that waits for a permit. */
type Taker = (permit: SharedPermit) => void;

/** Permits of one answer of Redis: from when and until when they are good, in milliseconds on the clock. */
type Order = { readonly name: string; readonly count: number; readonly due: number; readonly until: number };

/** The requests that wait for a permit, and the permits that are ordered for them. */
export class Orders {
	readonly #clock: Clock;
	readonly #closed: AbortSignal;
	readonly #onSettled: (batch: Batch) => void;
	readonly #waiting: Taker[] = [];
	readonly #open = new Set<Promise<void>>();
	#ordered = 0;
	#due = 0;

	/**
	 * @param closed no permit is given once it is aborted
	 * @param onSettled takes a batch of which each permit is used or dropped
	 */
	constructor(clock: Clock, closed: AbortSignal, onSettled: (batch: Batch) => void) {
		this.#clock = clock;
		this.#closed = closed;
		this.#onSettled = onSettled;
	}

	/** Requests that wait and for which no permit is ordered. */
	get missing(): number {
		return Math.max(0, this.#waiting.length - this.#ordered);
	}

	/** The time from which the permits of the last order are good. */
	get due(): number {
		return this.#due;
	}

	/** A permit, once one is given. Rejects with the signal's reason when it aborts. */
	take(signal: AbortSignal | undefined): Promise<SharedPermit> {
		return new Promise((resolve, reject) => {
			const taker: Taker = (permit) => {
				signal?.removeEventListener("abort", aborted);
				resolve(permit);
			};
			const aborted = (): void => {
				const place = this.#waiting.indexOf(taker);
				if (place >= 0) this.#waiting.splice(place, 1);
				reject(signal?.reason);
			};
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(taker);
		});
	}

	/** Gives the permits of an order to the requests that wait when its time has come. */
	add(order: Order): void {
		this.#ordered += order.count;
		this.#due = order.due;
		const given = this.#give(order).finally(() => this.#open.delete(given));
		this.#open.add(given);
	}

	/** Gives each request that waits a permit of the caller. */
	release(permit: () => SharedPermit): void {
		for (const taker of this.#waiting.splice(0)) taker(permit());
	}

	/** Resolves once no order is open. */
	async over(): Promise<void> {
		await Promise.all(this.#open);
	}

	async #give({ name, count, due, until }: Order): Promise<void> {
		const clock = this.#clock;
		const batch = new Batch({ name, count, until }, () => clock.now(), this.#onSettled);
		while (clock.now() < due && !this.#closed.aborted) {
			// A timer counts whole milliseconds, and none may end too early.
			await clock.sleep(Math.ceil(due - clock.now()), this.#closed);
		}
		this.#ordered -= count;
		const takers = this.#closed.aborted ? [] : this.#waiting.splice(0, count);
		for (const taker of takers) taker(batch.one());
		if (takers.length < count) batch.drop(count - takers.length);
	}
}
