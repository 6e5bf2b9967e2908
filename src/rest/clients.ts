import type { buildConnector, Client as UndiciClient, Dispatcher } from "undici";
import buildConnectorOf from "undici/lib/core/connect.js";
import { Connection, type Occupant } from "./connection.ts";
import { type Reservable, ReservationQueue, ReservedConnection } from "./reservation.ts";

export type ClientsOptions = Omit<UndiciClient.Options, "connect"> & {
	/** the most connections at a time */
	readonly connections: number;
	readonly connect: buildConnector.BuildOptions;
	/** called right before the first connection is opened */
	readonly beforeConnecting?: (() => void) | undefined;
	readonly onSurplusAnswer?: (() => void) | undefined;
};

type Waiting = { readonly request: Dispatcher.DispatchOptions; readonly occupant: Occupant };

/**
 * The connections to one origin. A request without a free connection opens another, or waits where there are enough.
 *
 * undici's own pool costs a tenth more for each request: it searches all connections for a free one, and a connection sets
 * and clears a timer between two requests. As there, undici lets an event loop turn pass before it writes on a connection
 * again, so that an end of it that came with an answer is seen (`scheduleIdleSocketValidation` in lib/dispatcher/client-h1.js).
 */
export class Clients implements Reservable {
	readonly #origin: string;
	readonly #options: UndiciClient.Options;
	readonly #most: number;
	readonly #beforeConnecting: (() => void) | undefined;
	readonly #onSurplusAnswer: (() => void) | undefined;
	readonly #all: Connection[] = [];
	/** the one that was used last comes first, so that few stay open */
	readonly #free: Connection[] = [];
	/** connections whose answers undici is still handing over */
	#resting: Connection[] = [];
	readonly #waiting: Waiting[] = [];
	/** connections that are opened for no request yet */
	#opening = 0;
	readonly #reservers = new ReservationQueue();
	/** the connections of the requests that are sent in this turn */
	readonly #used: ReservedConnection[] = [];
	#onFree: (() => void) | undefined;
	#isDestroyed = false;

	constructor(origin: string, clients: ClientsOptions) {
		const { connections, connect, beforeConnecting, onSurplusAnswer, ...options } = clients;
		this.#origin = origin;
		this.#most = connections;
		this.#beforeConnecting = beforeConnecting;
		this.#onSurplusAnswer = onSurplusAnswer;
		// One for all connections: it keeps their TLS sessions.
		this.#options = { ...options, connect: buildConnectorOf(connect) };
	}

	dispatch(request: Dispatcher.DispatchOptions, occupant: Occupant): void {
		if (this.#isDestroyed) return occupant.onError(closed());
		const reserved = this.#used.shift();
		if (reserved !== undefined) return reserved.send(request, occupant);
		// A connection that is free in a moment is better than another one.
		if (this.#resting.length <= this.#waiting.length) {
			const connection = this.#free.pop() ?? this.#another();
			if (connection !== undefined) return connection.send(request, occupant);
		}
		this.#waiting.push({ request, occupant });
	}

	reserve(signal: AbortSignal | undefined): ReservedConnection | Promise<ReservedConnection | undefined> | undefined {
		if (this.#isDestroyed) return undefined;
		const place = this.#free.findLastIndex((connection) => !connection.isClosed);
		const [free] = place < 0 ? [] : this.#free.splice(place, 1);
		if (free !== undefined) return this.#reserved(free, undefined);
		// A connection that is free in a moment is better than another one.
		if (this.#opening + this.#resting.length <= this.#reservers.length) {
			const connection = this.#free.pop() ?? this.#another();
			if (connection !== undefined) this.#open(connection);
		}
		return this.#reservers.wait(signal);
	}

	released(connection: Connection): void {
		if (this.#resting.push(connection) === 1) queueMicrotask(this.#reuse);
	}

	surplusAnswer(): void {
		this.#onSurplusAnswer?.();
	}

	/** Closes the connections when all their requests have ended, those that wait included. */
	async close(): Promise<void> {
		if (this.#free.length < this.#all.length) await new Promise<void>((resolve) => (this.#onFree = resolve));
		await Promise.all(this.#all.map((connection) => connection.close()));
	}

	/** Closes the connections, and fails their requests. */
	async destroy(): Promise<void> {
		this.#isDestroyed = true;
		for (const { occupant } of this.#waiting.splice(0)) occupant.onError(closed());
		this.#reservers.end();
		await Promise.all(this.#all.map((connection) => connection.destroy()));
	}

	#another(): Connection | undefined {
		if (this.#all.length >= this.#most) return undefined;
		if (this.#all.length === 0) this.#beforeConnecting?.();
		const connection = new Connection(this.#origin, this.#options, this);
		this.#all.push(connection);
		return connection;
	}

	readonly #reuse = (): void => {
		const rested = this.#resting;
		this.#resting = [];
		for (const connection of rested) this.#give(connection);
		if (this.#free.length === this.#all.length) this.#onFree?.();
	};

	/** Gives a connection to the request that has waited longest. */
	#give(connection: Connection): void {
		let next = this.#waiting.shift();
		while (next?.occupant.isDone === true) next = this.#waiting.shift();
		if (next !== undefined) connection.send(next.request, next.occupant);
		else if (this.#reservers.length === 0) this.#free.push(connection);
		else if (connection.isClosed) this.#open(connection);
		else this.#reservers.grant(this.#reserved(connection, undefined));
	}

	#open(connection: Connection): void {
		this.#opening += 1;
		connection.open((error) => {
			this.#opening -= 1;
			if (error === undefined || this.#reservers.length === 0) return this.released(connection);
			this.#reservers.grant(this.#reserved(connection, error));
		});
	}

	#reserved(connection: Connection, failure: Error | undefined): ReservedConnection {
		return new ReservedConnection(connection, failure, this.#reservationEnded);
	}

	readonly #reservationEnded = (reserved: ReservedConnection, isUsed: boolean): void => {
		if (!isUsed) return this.released(reserved.connection);
		// What a request doesn't take in this turn would be taken by another, whose time has not come.
		if (this.#used.push(reserved) === 1) setImmediate(this.#dropUnused);
	};

	readonly #dropUnused = (): void => {
		for (const { connection } of this.#used.splice(0)) this.released(connection);
	};
}

/** The error that undici gives for a request after the end. */
function closed(): Error {
	return Object.assign(new Error("the connections were closed"), { code: "UND_ERR_DESTROYED" });
}
