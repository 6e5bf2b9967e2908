import type { Client as UndiciClient, Dispatcher } from "undici";
import symbols from "undici/lib/core/symbols.js";
import Client from "undici/lib/dispatcher/client.js";

/** A request as undici calls it back, and the connection that it holds. */
export type Occupant = Dispatcher.DispatchHandler & {
	/** set while undici has the request; to be released at undici's last call */
	connection: Connection | undefined;
	/** to be called when undici writes the request */
	onSent: (() => void) | undefined;
	/** whether it ended before it was sent */
	readonly isDone: boolean;
	onError(error: Error): void;
};

type Owner = {
	/** takes back a connection that no request holds any more */
	released(connection: Connection): void;
	/** an answer came that no request had waited for */
	surplusAnswer(): void;
};

/** undici's text for an answer without a request (`onMessageBegin` in lib/dispatcher/client-h1.js), and for a 100 Continue to one. */
const SURPLUS = "bad response";

/** One connection at a time. undici opens it for the first request, and again when it was closed. */
export class Connection {
	readonly #client: Client;
	readonly #owner: Owner;
	/** requests that hold it, and those that ended in this turn */
	#held = 0;

	constructor(origin: string, options: UndiciClient.Options, owner: Owner) {
		this.#client = new Client(origin, options);
		this.#owner = owner;
		this.#client.on("disconnect", (_origin, _targets, error: Error) => {
			if (error.message === SURPLUS && this.#held === 0) owner.surplusAnswer();
		});
	}

	send(request: Dispatcher.DispatchOptions, occupant: Occupant): void {
		occupant.connection = this;
		this.#held += 1;
		this.#client.dispatch(request, occupant);
	}

	/** undici has made its last call for the request. */
	release(): void {
		queueMicrotask(() => void (this.#held -= 1));
		this.#owner.released(this);
	}

	/** Whether a request that is sent now waits until a connection is open. */
	get isClosed(): boolean {
		const client = this.#client;
		// One that is being opened or closed is neither: undici would refuse to open it.
		return !client[symbols.kConnected] && client[symbols.kConnecting] !== true && client[symbols.kHTTPContext] === null;
	}

	/** Opens a closed connection without a request. Calls back with the error where it can't be opened. */
	open(onEnd: (error: Error | undefined) => void): void {
		const client = this.#client;
		let isOver = false;
		const end = (error: Error | undefined): void => {
			// undici adds its listener late where opening fails at once.
			if (isOver) return;
			isOver = true;
			client.off("connect", opened);
			client.off("connectionError", failed);
			onEnd(error);
		};
		const opened = (): void => end(undefined);
		const failed = (_origin: URL, _targets: unknown, error: Error): void => end(error);
		client.on("connectionError", failed);
		client[symbols.kConnect](opened);
	}

	close(): Promise<void> {
		return this.#client.close();
	}

	destroy(): Promise<void> {
		// A socket asks its error for the stack. V8 would count the lines of the whole program for it.
		const error = Object.assign(new Error("the connections were closed"), { code: "UND_ERR_DESTROYED" });
		error.stack = error.message;
		return this.#client.destroy(error);
	}
}
