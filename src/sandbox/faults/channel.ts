import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Milliseconds between bytes and an RST. A client that receives both at once may see an end of the stream in place of
 * the RST, so it gets time to read the bytes first.
 */
const resetGap = 10;

/**
 * A connection as the HTTP server sees it, which a fault can write to past that server.
 *
 * A fault sends its bytes to the socket itself. The answer of the HTTP server is dropped, so the server goes on to the
 * next request of the connection, whatever was really sent.
 */
export class Channel extends Duplex {
	readonly #socket: Socket;
	readonly #closing = new AbortController();
	readonly #closed: Promise<void>;
	#muted = false;
	#stoppedReading = false;

	constructor(socket: Socket) {
		super({ allowHalfOpen: true });
		this.#socket = socket;
		socket.setNoDelay(true);
		socket.on("data", (chunk: Buffer) => {
			if (!this.push(chunk)) socket.pause();
		});
		socket.on("end", () => this.push(null));
		// `close` follows, which is all that the HTTP server needs.
		socket.on("error", () => undefined);
		this.#closed = new Promise((resolve) => {
			socket.on("close", () => {
				this.#closing.abort();
				this.destroy();
				resolve();
			});
		});
	}

	/** Read by the check of the header Host. */
	get localPort(): number | undefined {
		return this.#socket.localPort;
	}

	get isClosed(): boolean {
		return this.#closing.signal.aborted;
	}

	/** Sends bytes past the HTTP server. Resolves when they were handed over, or when the connection is closed. */
	send(bytes: Buffer | string): Promise<void> {
		// The connection is closing; to go on at once would leave no time for its end to arrive.
		if (!this.#socket.writable) return this.#closed;
		return new Promise((resolve) => {
			// Also called, with an error, where the connection closes meanwhile.
			this.#socket.write(bytes, () => resolve());
		});
	}

	/** Sends FIN after the bytes; later bytes of the client are answered with RST, as by a process that has ended. */
	async closeWithFin(): Promise<void> {
		this.#socket.destroySoon();
		await this.untilClosed();
	}

	async closeWithRst(): Promise<void> {
		if (this.#socket.bytesWritten > 0) await this.wait(resetGap);
		this.#socket.resetAndDestroy();
		await this.untilClosed();
	}

	/** Resolves when the connection is closed, by either side. */
	untilClosed(): Promise<void> {
		return this.#closed;
	}

	/** Waits, but not longer than the connection is open. */
	async wait(milliseconds: number): Promise<void> {
		await sleep(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => undefined);
	}

	/** Reads nothing from now on, so that the client's TCP window closes. */
	stopReading(): void {
		this.#stoppedReading = true;
		this.#socket.pause();
	}

	/** Drops what the HTTP server writes. */
	mute(muted: boolean): void {
		this.#muted = muted;
	}

	override _read(): void {
		if (!this.#stoppedReading) this.#socket.resume();
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
