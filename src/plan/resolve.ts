import { hasWildcard } from "./glob.ts";
import type { Named, Names } from "./names.ts";

/** Whether a row's name is the name of one document, or a pattern of all that match it. */
export type Match = "exact" | "glob";

/** The documents of a name. Found documents are given by their indexes in the `Names`. */
export type Resolution =
	| { readonly kind: "found"; readonly documents: readonly number[] }
	| { readonly kind: "unknown"; readonly candidates: readonly Named[] }
	| { readonly kind: "unmatched"; readonly isName: boolean }
	| { readonly kind: "ambiguous"; readonly documents: readonly Named[] };

/** Finds the documents of a name. With `glob` these are all that it matches, several of one name included. */
export function resolveName(names: Names, name: string, match: Match): Resolution {
	if (match === "glob" && hasWildcard(name)) {
		const documents = names.matching(name);
		if (documents.length > 0) return { kind: "found", documents };
		return { kind: "unmatched", isName: names.called(name).length > 0 };
	}
	const documents = names.called(name);
	if (documents.length === 0) {
		return {
			kind: "unknown",
			// Searched only when they are reported: a manifest of a million wrong names is read twice.
			get candidates() {
				return names.like(name);
			},
		};
	}
	if (documents.length === 1 || match === "glob") return { kind: "found", documents };
	return { kind: "ambiguous", documents: documents.flatMap((index) => names.document(index) ?? []) };
}

/** A row that names a document, and the metadata that it gives it. */
export type Claim = {
	readonly row: number;
	/** where the row is, in words */
	readonly place: string;
	/** equal for equal metadata */
	readonly payload: string;
};

/**
 * The row to which each document of a dataset belongs.
 *
 * Two rows may name one document differently: by a name and a pattern, or by a name and an id. Memory holds one claim
 * for each document, whatever the number of rows.
 */
export class Claims {
	readonly #owners = new Map<number, Claim>();

	/** Takes documents for a row, all or none. Returns the earlier claim that contradicts it. */
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
