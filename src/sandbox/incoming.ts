import { newId } from "./routes/call.ts";
import type { Store } from "./store/index.ts";

/** A file on its way in: its bytes are written as they come, so that memory does not grow with the file. */
export class Incoming {
	readonly id = newId();
	readonly name: string;
	size = 0;
	/** resolves when all bytes so far are committed; rejects with the first failure */
	written: Promise<void> = Promise.resolve();
	readonly #store: Store;
	#position = 0;

	constructor(store: Store, name: string) {
		this.#store = store;
		this.name = name;
	}

	add(bytes: Buffer): void {
		this.size += bytes.length;
		const position = this.#position++;
		const write = this.#store.commits.write(() => this.#store.documents.addBytes(this.id, position, bytes));
		this.written = Promise.all([this.written, write]).then(() => {});
		// Looked at when the body has ended; until then a failure must not count as unhandled.
		this.written.catch(() => {});
	}
}
