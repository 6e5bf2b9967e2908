/** Lets one piece of work in at a time, in the order in which they asked. */
export class SerialQueue {
	#last: Promise<unknown> = Promise.resolve();

	take<Result>(work: () => Promise<Result>): Promise<Result> {
		const mine = this.#last.then(work);
		this.#last = mine.catch(() => undefined);
		return mine;
	}
}
