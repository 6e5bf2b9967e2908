import type { Documents } from "./documents.ts";
import { newTypes } from "./field-types.ts";

/** The types of metadata keys, as the search engine of later releases knows them: one a key, for all datasets. */
export class SearchEngine {
	readonly #documents: Documents;
	readonly #types = new Map<string, string>();

	constructor(documents: Documents) {
		this.#documents = documents;
	}

	/** Takes metadata in, and learns the types of new keys. False where the engine refuses them. */
	index(metadata: string): boolean {
		// Other flavours write without it.
		for (const stored of this.#documents.takeUnindexed()) this.#learn(stored);
		return this.#learn(metadata);
	}

	#learn(metadata: string): boolean {
		const types = newTypes(metadata, (path) => this.#types.get(path));
		for (const [path, type] of types ?? []) this.#types.set(path, type);
		return types !== undefined;
	}
}
