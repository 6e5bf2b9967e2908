/** What was done to one document, over all requests. */
export type DocumentCount = { readonly document: string; readonly updates: number; readonly requests: number };

/** Two numbers of each document. */
const width = 2;

/**
 * How often each document was updated and asked for.
 *
 * Exact whatever the ledger has let go of; so it grows with the documents that requests name, by some hundred bytes each.
 */
export class Counts {
	readonly #index = new Map<string, number>();
	#numbers = new Uint32Array(1024 * width);
	requests = 0;
	applied = 0;

	requested(document: string | undefined): void {
		this.requests++;
		if (document !== undefined) this.#add(document, 1);
	}

	updated(document: string): void {
		this.#add(document, 0);
	}

	of(document: string): DocumentCount {
		const at = (this.#index.get(document) ?? -1) * width;
		return { document, updates: this.#numbers[at] ?? 0, requests: this.#numbers[at + 1] ?? 0 };
	}

	*all(): Generator<DocumentCount> {
		for (const document of this.#index.keys()) yield this.of(document);
	}

	#add(document: string, which: 0 | 1): void {
		let index = this.#index.get(document);
		if (index === undefined) {
			index = this.#index.size;
			// Copied, because a piece of a URL would keep all of that URL alive.
			this.#index.set(Buffer.from(document).toString(), index);
			if (index * width >= this.#numbers.length) this.#grow();
		}
		const at = index * width + which;
		this.#numbers[at] = (this.#numbers[at] ?? 0) + 1;
	}

	#grow(): void {
		const wider = new Uint32Array(this.#numbers.length * 2);
		wider.set(this.#numbers);
		this.#numbers = wider;
	}
}
