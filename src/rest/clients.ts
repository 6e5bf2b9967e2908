import type { buildConnector, Client as UndiciClient, Dispatcher } from "undici";
import buildConnectorOf from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";

/** A request as undici calls it back, and the connection that it holds. */
export type Occupant = Dispatcher.DispatchHandler & {
	/** set while undici has the request; to be released at undici's last call */
	connection: Connection | undefined;
	/** whether it ended before it was sent */
	readonly isDone: boolean;
	onError(error: Error): void;
};

export type ClientsOptions = Omit<UndiciClient.Options, "connect"> & {
	/** the most connections at a time */
	readonly connections: number;
	readonly connect: buildConnector.BuildOptions;
	/** called right before the first connection is opened */
	readonly beforeConnecting?: (() => void) | undefined;
};

type Waiting = { readonly request: Dispatcher.DispatchOptions; readonly occupant: Occupant };

/** One connection at a time. undici opens it for the first request, and again when it was closed. */
export class Connection {
	readonly #client: UndiciClient;
	readonly #clients: Clients;

	constructor(client: UndiciClient, clients: Clients) {
		this.#client = client;
		this.#clients = clients;
	}

	send(request: Dispatcher.DispatchOptions, occupant: Occupant): void {
		occupant.connection = this;
		this.#client.dispatch(request, occupant);
	}

	/** undici has made its last call for the request. */
	release(): void {
		this.#clients.released(this);
	}

	close(): Promise<void> {
		return this.#client.close();
	}

	destroy(): Promise<void> {
		return this.#client.destroy();
	}
}

/**
 * The connections to one origin. A request without a free connection opens another, or waits where there are enough.
 *
 * undici's own pool costs a tenth more for each request: it searches all connections for a free one, and a connection sets
 * and clears a timer between two requests. As there, undici lets an event loop turn pass before it writes on a connection
 * again, so that an end of it that came with an answer is seen (`scheduleIdleSocketValidation` in lib/dispatcher/client-h1.js).
 */
export class Clients {
	readonly #origin: string;
	readonly #options: UndiciClient.Options;
	readonly #most: number;
	readonly #beforeConnecting: (() => void) | undefined;
	readonly #all: Connection[] = [];
	/** the one that was used last comes first, so that few stay open */
	readonly #free: Connection[] = [];
	/** connections whose answers undici is still handing over */
	#resting: Connection[] = [];
	readonly #waiting: Waiting[] = [];
	#onFree: (() => void) | undefined;
	#isDestroyed = false;

	constructor(origin: string, { connections, connect, beforeConnecting, ...options }: ClientsOptions) {
		this.#origin = origin;
		this.#most = connections;
		this.#beforeConnecting = beforeConnecting;
		// One for all connections: it keeps their TLS sessions.
		this.#options = { ...options, connect: buildConnectorOf(connect) };
	}

	dispatch(request: Dispatcher.DispatchOptions, occupant: Occupant): void {
		if (this.#isDestroyed) return occupant.onError(closed());
		// A connection that is free in a moment is better than another one.
		if (this.#resting.length <= this.#waiting.length) {
			const connection = this.#free.pop() ?? this.#another();
			if (connection !== undefined) return connection.send(request, occupant);
		}
		this.#waiting.push({ request, occupant });
	}

	released(connection: Connection): void {
		if (this.#resting.push(connection) === 1) queueMicrotask(this.#reuse);
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
		await Promise.all(this.#all.map((connection) => connection.destroy()));
	}

	#another(): Connection | undefined {
		if (this.#all.length >= this.#most) return undefined;
		if (this.#all.length === 0) this.#beforeConnecting?.();
		const connection = new Connection(new Client(this.#origin, this.#options), this);
		this.#all.push(connection);
		return connection;
	}

	readonly #reuse = (): void => {
		const rested = this.#resting;
		this.#resting = [];
		for (const connection of rested) {
			let next = this.#waiting.shift();
			while (next?.occupant.isDone === true) next = this.#waiting.shift();
			if (next === undefined) this.#free.push(connection);
			else connection.send(next.request, next.occupant);
		}
		if (this.#free.length === this.#all.length) this.#onFree?.();
	};
}

/** The error that undici gives for a request after the end. */
function closed(): Error {
	return Object.assign(new Error("the connections were closed"), { code: "UND_ERR_DESTROYED" });
}
