import pLimit from "p-limit";
import { documentsText, durationText } from "../../text/words.ts";
import type { Service } from "./service.ts";

/** In flight at most while each holds the whole server: a second one waits there, so that no time is lost between two. */
const AT_ONCE = 2;

/** Milliseconds from which on a write counts as one that holds the server: a refresh of the search engine takes a second. */
const SLOW_MS = 500;

/** Fast writes after which more are sent at once, and slow ones in a row after which no more are. */
const FAST = 3;
const SLOW = 2;

/**
 * Sends the first metadata of documents, few at a time where each holds the whole server.
 *
 * RAGFlow v0.25.3 to v0.27 inserts it and waits for the refresh of its search engine, in the event loop of all requests
 * (`insert` in rag/utils/es_conn.py). More of them at once would only wait there until their time is up.
 */
export class FirstWrites {
	readonly #notes: Pick<Service, "clock" | "noteOnce">;
	readonly #limit = pLimit(AT_ONCE);
	#fast = 0;
	#slow = 0;
	/** when the last one ended, on the clock */
	#ended = 0;
	/** rows of the run that are not settled */
	pending: () => number = () => 0;

	constructor(notes: Pick<Service, "clock" | "noteOnce">) {
		this.#notes = notes;
	}

	send(write: () => Promise<void>): Promise<void> {
		return this.#limit(async () => {
			const { clock } = this.#notes;
			const started = clock.now();
			await write();
			const before = Math.max(started, this.#ended);
			this.#ended = clock.now();
			this.#took(this.#ended - before);
		});
	}

	/** @param milliseconds of one write, without the wait for the one before it: two that the server does at once take none */
	#took(milliseconds: number): void {
		if (milliseconds < SLOW_MS) {
			this.#slow = 0;
			this.#fast += 1;
			if (this.#fast >= FAST) this.#limit.concurrency = Number.POSITIVE_INFINITY;
			return;
		}
		this.#slow += 1;
		if (this.#slow < SLOW) return;
		this.#fast = 0;
		this.#limit.concurrency = AT_ONCE;
		const rows = this.pending();
		const [one, all] = [milliseconds, milliseconds * rows].map((each) => durationText(each / 1000));
		const text = `The first metadata of a document takes this server ${one}, in which it answers nothing else: about ${all} for ${documentsText(rows)} without metadata. ${AT_ONCE} are sent at a time.`;
		if (rows > 1) this.#notes.noteOnce("FIRST_WRITES", text);
	}
}
