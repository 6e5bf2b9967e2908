import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Milliseconds between bytes and an RST behind them. A client that finds both at once may be shown an end in place of the
 * RST: so it gets the time to read the bytes first.
 */
const resetGap = 10;

/**
 * A connection as the HTTP server sees it, with a way past that server.
 *
 * A fault writes its bytes to the socket itself, and the HTTP server writes its own answer into nothing: so it goes on to
 * the next request of the connection, whatever was really sent.
 */
export class Channel extends Duplex {
	readonly #socket: Socket;
	readonly #gone = new AbortController();
	readonly #closed: Promise<void>;
	#muted = false;
	#deaf = false;

	constructor(socket: Socket) {
		super({ allowHalfOpen: true });
		this.#socket = socket;
		socket.setNoDelay(true);
		socket.on("data", (chunk: Buffer) => {
			if (!this.push(chunk)) socket.pause();
		});
		socket.on("end", () => this.push(null));
		// What follows is `close`, and that is all that matters to the HTTP server.
		socket.on("error", () => undefined);
		this.#closed = new Promise((resolve) => {
			socket.on("close", () => {
				this.#gone.abort();
				this.destroy();
				resolve();
			});
		});
	}

	/** Read by the check of the header Host. */
	get localPort(): number | undefined {
		return this.#socket.localPort;
	}

	get isGone(): boolean {
		return this.#gone.signal.aborted;
	}

	/** Sends bytes past the HTTP server; resolves when they were handed over, or nobody is there any more. */
	send(bytes: Buffer | string): Promise<void> {
		// Its end is on its way; to go on at once would leave no time for it to arrive.
		if (!this.#socket.writable) return this.#closed;
		return new Promise((resolve) => {
			// Called with an error, too, where the connection is closed meanwhile.
			this.#socket.write(bytes, () => resolve());
		});
	}

	/** FIN, after what was sent; what still comes is answered with RST, as by a process that has gone. */
	async hangUp(): Promise<void> {
		this.#socket.destroySoon();
		await this.gone();
	}

	/** RST. */
	async reset(): Promise<void> {
		if (this.#socket.bytesWritten > 0) await this.wait(resetGap);
		this.#socket.resetAndDestroy();
		await this.gone();
	}

	/** Resolves when the connection is closed, by whichever side. */
	gone(): Promise<void> {
		return this.#closed;
	}

	/** Waits, at most until the connection is closed. */
	async wait(milliseconds: number): Promise<void> {
		await sleep(milliseconds, undefined, { signal: this.#gone.signal }).catch(() => undefined);
	}

	/** Reads nothing from now on: the client's bytes pile up until its window is closed. */
	stopReading(): void {
		this.#deaf = true;
		this.#socket.pause();
	}

	/** Swallows what the HTTP server writes. */
	mute(muted: boolean): void {
		this.#muted = muted;
	}

	override _read(): void {
		if (!this.#deaf) this.#socket.resume();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
		if (this.#muted) done();
		else this.#socket.write(chunk, done);
	}

	override _final(done: (error?: Error | null) => void): void {
		if (this.#socket.writableEnded) done();
		else this.#socket.end(done);
	}

	override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
		this.#socket.destroy();
		done(error);
	}
}
