/** What was seen of a service so far: how far its word can be taken for what it is told to do. */
export class Proof {
	#updates: "unproven" | "proven" | "unreadable" = "unproven";
	#isNothingNew = false;
	#isRemovalSeen = false;

	/** Whether an update's success is to be believed without reading it back. */
	get believes(): boolean {
		return this.#updates !== "unproven";
	}

	/** Whether a document was seen to change as it was told to. */
	get verified(): boolean {
		return this.#updates === "proven";
	}

	/** What is written can't be read back: successes are taken at their word, and the summary says so. */
	get isUnreadable(): boolean {
		return this.#updates === "unreadable";
	}

	/** Whether a row was seen whose document has already what is sent, as all rows of a repeated run are. */
	get isNothingNew(): boolean {
		return this.#isNothingNew;
	}

	/** Whether a removal was seen to take its document, and no other. */
	get isRemovalSeen(): boolean {
		return this.#isRemovalSeen;
	}

	updated(): void {
		this.#updates = "proven";
	}

	unreadable(): void {
		this.#updates = "unreadable";
	}

	nothingNew(): void {
		this.#isNothingNew = true;
	}

	removed(): void {
		this.#isRemovalSeen = true;
	}

	/** Updates are to be seen to arrive anew. */
	doubt(): void {
		this.#updates = "unproven";
	}
}
