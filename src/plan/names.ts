import { globTest, hasWildcard, literalStart } from "./glob.ts";

/** A document without its metadata. */
export type Named = { readonly id: string; readonly name: string };

/** The ways in which similar names differ. */
type Likeness = "Unicode form" | "spaces" | "case" | "a copy's number";

const LIKENESSES: readonly (readonly [Likeness, (text: string) => string])[] = [
	["spaces", (text) => text.replaceAll(/[\s\p{Cf}]/gu, "")],
	["Unicode form", (text) => text.normalize("NFKC")],
	["case", (text) => text.toLowerCase()],
	// RAGFlow stores a second `a.txt` as `a(1).txt`.
	["a copy's number", (text) => text.replace(/\(\d{1,9}\)(?=\.[^.]*$|$)/, "")],
];

/**
 * The names of one dataset. Names are equal where every character is: nothing is normalised.
 *
 * Memory holds an id and a name for each document, a few hundred bytes, and nothing for a row. Measured: a million rows
 * against 100,000 documents take 150 MB for the whole program.
 */
export class Names {
	readonly #documents: Named[] = [];
	/** An index where one document has the name, as nearly always, and a list where several have it. */
	readonly #byName = new Map<string, number | number[]>();
	#byLikeness: Map<string, number[]> | undefined;
	#byId: Map<string, number> | undefined;

	add({ id, name }: Named): void {
		const index = this.#documents.push({ id, name }) - 1;
		const same = this.#byName.get(name);
		if (same === undefined) this.#byName.set(name, index);
		else if (typeof same === "number") this.#byName.set(name, [same, index]);
		else same.push(index);
	}

	document(index: number): Named | undefined {
		return this.#documents[index];
	}

	/** The documents of exactly that name. */
	called(name: string): readonly number[] {
		const found = this.#byName.get(name);
		if (found === undefined) return [];
		return typeof found === "number" ? [found] : found;
	}

	withId(id: string): number | undefined {
		this.#byId ??= new Map(this.#documents.map((document, index) => [document.id, index]));
		return this.#byId.get(id);
	}

	/** The documents whose names match, in the order in which they were listed. */
	matching(pattern: string): number[] {
		const matches = globTest(pattern);
		const literal = literalStart(pattern);
		const found: number[] = [];
		for (const [index, { name }] of this.#documents.entries()) {
			// Most names differ before the first wildcard.
			if (name.startsWith(literal) && matches(name)) found.push(index);
		}
		return found;
	}

	/** Documents with similar names: they differ only by what people overlook or mistype. */
	like(name: string): readonly Named[] {
		this.#byLikeness ??= this.#likenesses();
		return (this.#byLikeness.get(plain(name)) ?? []).flatMap((index) => this.#documents[index] ?? []);
	}

	#likenesses(): Map<string, number[]> {
		const found = new Map<string, number[]>();
		for (const [index, { name }] of this.#documents.entries()) {
			const key = plain(name);
			const same = found.get(key);
			if (same === undefined) found.set(key, [index]);
			else same.push(index);
		}
		return found;
	}
}

/** The difference between two similar names. */
export function differences(wanted: string, found: string): Likeness[] {
	const differ = (steps: typeof LIKENESSES): boolean => plain(wanted, steps) !== plain(found, steps);
	const needed = LIKENESSES.filter((step) => differ(LIKENESSES.filter((each) => each !== step)));
	// A no-break space differs in spaces and in Unicode form: either of the two explains it.
	const enough = LIKENESSES.filter((step) => !differ([step])).slice(0, 1);
	return (needed.length > 0 ? needed : enough).map(([likeness]) => likeness);
}

function plain(name: string, steps: typeof LIKENESSES = LIKENESSES): string {
	return steps.reduce((text, [, apply]) => apply(text), name);
}

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
