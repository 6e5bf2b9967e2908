import type { Echo } from "../../rest/types.ts";

/** Rows in a row whose documents no list shows, after which nothing is expected to be read back. */
const UNLISTED = 3;

/** Rows that change nothing, each read back, after which what an earlier run has seen is not waited for any longer. */
const LOOKS = 10;

/** What was seen of a service so far: how far its word can be taken for what it is told to do. */
export class Canary {
	readonly #queue = new SerialQueue();
	#echo: Echo | undefined;
	#isUnreadable = false;
	#unlisted = 0;
	#isSampleDue = false;
	#isNothingNew = false;
	#looks = 0;
	#harm: Error | undefined;
	#isUploadSeen = false;
	readonly #removals = new Set<string>();
	readonly #uploads = new Set<string>();
	readonly #sent = new Set<string>();

	/** Runs one after another what must not happen side by side: the writes that show what can be believed. */
	alone<Result>(work: () => Promise<Result>): Promise<Result> {
		return this.#queue.take(work);
	}

	/** Whether an update's success is to be believed without reading it back. */
	get believes(): boolean {
		return this.#isUnreadable || (this.#echo !== undefined && !this.#isSampleDue);
	}

	/** Whether a document was seen to change as it was told to, and how that success named it. */
	get echo(): Echo | undefined {
		return this.#echo;
	}

	/** What is written can't be read back: successes are taken at their word, and the summary says so. */
	get isUnreadable(): boolean {
		return this.#isUnreadable;
	}

	/** Whether a row was seen whose document has already what is sent, as all rows of a repeated run are. */
	get isNothingNew(): boolean {
		return this.#isNothingNew;
	}

	/** A document was seen to change as it was told to. */
	updated(echo: Echo): void {
		this.#echo = echo;
		this.#isUnreadable = false;
		this.#isSampleDue = false;
	}

	/** One was, in an earlier run: the first of this one is still to be seen, and others wait for it. */
	remembered(echo: Echo): void {
		this.#echo = echo;
		this.#isSampleDue = true;
	}

	unreadable(): void {
		this.#isUnreadable = true;
		this.#echo = undefined;
		this.#isSampleDue = false;
	}

	/** No list shows a document that was written. @returns whether that is so of all of them, it seems */
	unlisted(): boolean {
		this.#unlisted += 1;
		return this.#unlisted >= UNLISTED;
	}

	listed(): void {
		this.#unlisted = 0;
	}

	/** A row was read back whose document had already what was sent. */
	nothingNew(): void {
		this.#isNothingNew = true;
		this.#looks += 1;
		// A repeated run has no row that changes anything: what an earlier one has seen stands then.
		if (this.#looks >= LOOKS) this.#isSampleDue = false;
	}

	/** Updates are to be seen to arrive anew. */
	doubt(): void {
		this.#echo = undefined;
		this.#isUnreadable = false;
		this.#isSampleDue = false;
	}

	/** Whether a removal from that dataset was seen to take its document, and no other. */
	isRemovalSeen(datasetId: string): boolean {
		return this.#removals.has(datasetId);
	}

	removed(datasetId: string): void {
		this.#removals.add(datasetId);
	}

	/**
	 * Ids whose removals were sent while none was seen off in their dataset: that they go says nothing about another's
	 * removal, as the answer to their own may have been lost.
	 */
	get removalsSent(): ReadonlySet<string> {
		return this.#sent;
	}

	removing(id: string): void {
		this.#sent.add(id);
	}

	/** What a removal did that it must never do: rows that wait for their turn are not to have theirs. */
	get harm(): Error | undefined {
		return this.#harm;
	}

	harmed(error: Error): void {
		this.#harm = error;
	}

	/** Whether an upload was seen to be there afterwards. */
	get isUploadSeen(): boolean {
		return this.#isUploadSeen;
	}

	uploadSeen(): void {
		this.#isUploadSeen = true;
	}

	/** Notes an id that an upload was answered with. @returns false where an earlier upload got the same */
	uploaded(id: string): boolean {
		if (this.#uploads.has(id)) return false;
		this.#uploads.add(id);
		return true;
	}
}

/** Lets one piece of work in at a time, in the order in which they asked. */
export class SerialQueue {
	#last: Promise<unknown> = Promise.resolve();

	take<Result>(work: () => Promise<Result>): Promise<Result> {
		const mine = this.#last.then(work);
		this.#last = mine.catch(() => undefined);
		return mine;
	}
}
