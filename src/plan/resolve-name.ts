import { hasWildcard } from "./glob.ts";
import type { Named, Names } from "./names.ts";

/** Whether a row's name stands for the one document that is called so, or for all that match it. */
export type Match = "exact" | "glob";

/** What a name comes to. Documents that were found are told by their places in the `Names`. */
export type Resolution =
	| { readonly kind: "found"; readonly documents: readonly number[] }
	| { readonly kind: "unknown"; readonly candidates: readonly Named[] }
	| { readonly kind: "unmatched"; readonly isName: boolean }
	| { readonly kind: "ambiguous"; readonly documents: readonly Named[] };

/** Looks a name up. With `glob` it stands for every document it matches, also for several of one name. */
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
			// Sought when they are told: a manifest of a million wrong names is read twice.
			get candidates() {
				return names.like(name);
			},
		};
	}
	if (documents.length === 1 || match === "glob") return { kind: "found", documents };
	return { kind: "ambiguous", documents: documents.flatMap((index) => names.document(index) ?? []) };
}
