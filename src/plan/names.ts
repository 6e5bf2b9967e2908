import { globTest, hasWildcard, literalStart } from "./glob.ts";

/** A document without its metadata. */
export type Named = { readonly id: string; readonly name: string };

/**
 * The names of one dataset. Names are equal where every character is: nothing is normalised.
 *
 * Memory holds an id and a name for each document, a few hundred bytes, and nothing for a row.
 */
export class Names {
	readonly #documents: Named[] = [];
	readonly #byName = new Map<string, Named[]>();
	#byLikeness: ReadonlyMap<string, readonly Named[]> | undefined;
	#byId: ReadonlyMap<string, Named> | undefined;

	add({ id, name }: Named): void {
		const document = { id, name };
		this.#documents.push(document);
		put(this.#byName, name, document);
	}

	/** The documents of exactly that name. */
	called(name: string): readonly Named[] {
		return this.#byName.get(name) ?? [];
	}

	withId(id: string): Named | undefined {
		this.#byId ??= new Map(this.#documents.map((document) => [document.id, document]));
		return this.#byId.get(id);
	}

	/** The documents whose names match, in the order in which they were listed. */
	matching(pattern: string): readonly Named[] {
		const matches = globTest(pattern);
		const literal = literalStart(pattern);
		// Most names differ before the first wildcard.
		return this.#documents.filter(({ name }) => name.startsWith(literal) && matches(name));
	}

	/** Documents with similar names: they differ only by what people overlook or mistype. */
	like(name: string): readonly Named[] {
		if (this.#byLikeness === undefined) {
			const found = new Map<string, Named[]>();
			for (const document of this.#documents) put(found, plain(document.name), document);
			this.#byLikeness = found;
		}
		return this.#byLikeness.get(plain(name)) ?? [];
	}
}

function put(lists: Map<string, Named[]>, key: string, document: Named): void {
	const same = lists.get(key);
	if (same === undefined) lists.set(key, [document]);
	else same.push(document);
}

/** A name without spaces, case, Unicode form, and the number of a copy: RAGFlow stores a second `a.txt` as `a(1).txt`. */
function plain(name: string): string {
	const folded = name
		.replaceAll(/[\s\p{Cf}]/gu, "")
		.normalize("NFKC")
		.toLowerCase();
	return folded.replace(/\(\d{1,9}\)(?=\.[^.]*$|$)/, "");
}

/** Whether a row's name is the name of one document, or a pattern of all that match it. */
export type Match = "exact" | "glob";

/** The documents of a name. */
export type Resolution =
	| { readonly kind: "found" | "ambiguous"; readonly documents: readonly Named[] }
	| { readonly kind: "unknown"; readonly candidates: readonly Named[] }
	| { readonly kind: "unmatched"; readonly isName: boolean };

/** Finds the documents of a name. With `glob` these are all that it matches, several of one name included. */
export function resolveName(names: Names, name: string, match: Match): Resolution {
	if (match === "glob" && hasWildcard(name)) {
		const documents = names.matching(name);
		if (documents.length > 0) return { kind: "found", documents };
		return { kind: "unmatched", isName: names.called(name).length > 0 };
	}
	const documents = names.called(name);
	if (documents.length > 0) {
		return { kind: documents.length === 1 || match === "glob" ? "found" : "ambiguous", documents };
	}
	return {
		kind: "unknown",
		// Searched only when they are reported: a manifest of a million wrong names is read twice.
		get candidates() {
			return names.like(name);
		},
	};
}

/** A row that names a document, and the metadata that it gives it. */
type Claim = {
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
	readonly #owners = new Map<Named, Claim>();

	/** Takes documents for a row, all or none. Returns the earlier claim that contradicts it. */
	take(documents: readonly Named[], claim: Claim, onDuplicate: "error" | "first" | "last"): Claim | undefined {
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

	isOwner(document: Named, row: number): boolean {
		return this.#owners.get(document)?.row === row;
	}
}
