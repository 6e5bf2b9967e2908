import { randomBytes } from "node:crypto";
import type { PartSink } from "./request-body.ts";
import type { Store } from "./store/index.ts";

/**
 * Stores the files of one upload, and returns what `insert` returns. Any failure removes their bytes again.
 *
 * `read` reads the request and announces each file by its name; it writes the bytes into the sink that it gets.
 * `insert` makes documents of all files in one write. It may throw a `Refusal` before it writes.
 */
export async function storeFiles<Stored>(
	store: Store,
	read: (newFile: (name: string) => PartSink) => Promise<void>,
	insert: (files: readonly IncomingFile[]) => Stored,
): Promise<Stored> {
	const files: IncomingFile[] = [];
	try {
		await read((name) => {
			const file = new IncomingFile(store, name);
			files.push(file);
			return (bytes) => file.add(bytes);
		});
		for (const file of files) await file.written;
		return await store.commits.write(() => insert(files));
	} catch (error) {
		await store.commits.write(() => files.forEach((file) => store.documents.removeBytes(file.id)));
		throw error;
	}
}

/** A file that is being received. Its bytes are written as they arrive, so that memory does not grow with the file. */
export class IncomingFile {
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
		// Awaited when the body has ended; until then a failure must not count as unhandled.
		this.written.catch(() => {});
	}
}

/** A random id in the form of RAGFlow's, which are UUIDs of version 1: releases refuse any other. */
export function newId(): string {
	const id = randomBytes(16).toString("hex");
	return `${id.slice(0, 12)}1${id.slice(13, 16)}8${id.slice(17)}`;
}
