import type { Dispatcher } from "undici";
import type { Connection, Occupant } from "./connection.ts";

/**
 * A connection that is kept for one request until its time has come. Exactly one of `used` and `drop` is called.
 *
 * Opening a connection takes a while. Requests that opened one after their time had come were sent when it was open, many in
 * one moment, and a cap of 300 a second let 340 through.
 */
export type Reservation = {
	/** whether its connection is still open */
	isGood(): boolean;
	/**
	 * The request that is sent next, in this turn of the event loop, takes it.
	 *
	 * @param onSent called when it is written, which may be a turn later: undici looks first whether the connection has ended
	 */
	used(onSent: () => void): void;
	/** no request is sent */
	drop(): void;
};

/** Where connections can be reserved. */
export type Reservable = {
	/**
	 * Resolves when there is a connection for one request, open or not to be opened: then the request gets that error. Undefined
	 * where none can be reserved. Rejects with the signal's reason when it aborts.
	 */
	reserve(signal: AbortSignal | undefined): Reservation | Promise<Reservation | undefined> | undefined;
};

/** A reservation of a connection, and the error of opening it. */
export class ReservedConnection implements Reservation {
	readonly connection: Connection;
	readonly #failure: Error | undefined;
	readonly #onEnd: (reserved: ReservedConnection, isUsed: boolean) => void;
	#onSent: (() => void) | undefined;

	constructor(
		connection: Connection,
		failure: Error | undefined,
		onEnd: (reserved: ReservedConnection, isUsed: boolean) => void,
	) {
		this.connection = connection;
		this.#failure = failure;
		this.#onEnd = onEnd;
	}

	isGood(): boolean {
		return this.#failure !== undefined || !this.connection.isClosed;
	}

	used(onSent: () => void): void {
		this.#onSent = onSent;
		this.#onEnd(this, true);
	}

	drop(): void {
		this.#onEnd(this, false);
	}

	send(request: Dispatcher.DispatchOptions, occupant: Occupant): void {
		occupant.onSent = this.#onSent;
		if (this.#failure === undefined) return this.connection.send(request, occupant);
		occupant.connection = this.connection;
		occupant.onError(this.#failure);
	}
}

/** The requests that wait for a connection, first come first served. */
export class ReservationQueue {
	readonly #waiting: ((reserved: ReservedConnection | undefined) => void)[] = [];

	get length(): number {
		return this.#waiting.length;
	}

	wait(signal: AbortSignal | undefined): Promise<ReservedConnection | undefined> {
		return new Promise((resolve, reject) => {
			const aborted = (): void => {
				const place = this.#waiting.indexOf(grant);
				if (place >= 0) this.#waiting.splice(place, 1);
				reject(signal?.reason);
			};
			const grant = (reserved: ReservedConnection | undefined): void => {
				signal?.removeEventListener("abort", aborted);
				resolve(reserved);
			};
			if (signal?.aborted === true) return reject(signal.reason);
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(grant);
		});
	}

	/** Gives the first of them a reservation. */
	grant(reserved: ReservedConnection): void {
		this.#waiting.shift()?.(reserved);
	}

	/** No reservation follows. */
	end(): void {
		for (const grant of this.#waiting.splice(0)) grant(undefined);
	}
}
