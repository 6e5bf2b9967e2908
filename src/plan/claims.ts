/** A row that names a document, and what it says of it. */
export type Claim = {
	readonly row: number;
	/** where it stands, in words */
	readonly place: string;
	/** equal for equal metadata */
	readonly payload: string;
};

/**
 * Which row each document of a dataset belongs to.
 *
 * Two rows may name one document in different words: a name and a pattern, or a name and an id. It holds one claim for
 * each document, however many rows there are.
 */
export class Claims {
	readonly #owners = new Map<number, Claim>();

	/** Takes documents for a row, all or none. Returns the claim that stands against it. */
	take(documents: readonly number[], claim: Claim, onDuplicate: "error" | "first" | "last"): Claim | undefined {
		if (onDuplicate === "error") {
			for (const document of documents) {
				const earlier = this.#owners.get(document);
				if (earlier !== undefined && earlier.payload !== claim.payload) return earlier;
			}
		}
		for (const document of documents) {
			const earlier = this.#owners.get(document);
			const isTaken = earlier !== undefined && (onDuplicate !== "last" || earlier.payload === claim.payload);
			if (!isTaken) this.#owners.set(document, claim);
		}
		return undefined;
	}

	isOwner(document: number, row: number): boolean {
		return this.#owners.get(document)?.row === row;
	}
}
