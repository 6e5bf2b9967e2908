import { hasWildcard, literalGlob } from "../../plan/glob.ts";
import { differences, type Named } from "../../plan/names.ts";
import type { Resolution } from "../../plan/resolve.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";

/** Documents that a message names at most. */
const NAMED = 3;

export type Unresolved = Exclude<Resolution, { kind: "found" }>;

/** Stable names for scripts. */
export function unresolvedCode({ kind }: Unresolved): "UNKNOWN_NAME" | "AMBIGUOUS_NAME" {
	return kind === "ambiguous" ? "AMBIGUOUS_NAME" : "UNKNOWN_NAME";
}

/** Why a name stands for no document, and which ones may be meant. */
export function unresolvedText(resolution: Unresolved, name: string, dataset: string): string {
	const shown = `"${show(name)}"`;
	const where = `in dataset ${show(dataset)}`;
	switch (resolution.kind) {
		case "unknown": {
			const text = `no document ${where} is called ${shown}`;
			const { candidates } = resolution;
			if (candidates.length === 0) return hasWildcard(name) ? `${text}; for patterns say --match glob` : text;
			return `${text}; did you mean ${some(candidates, (candidate) => candidateText(name, candidate), " or ")}?`;
		}
		case "unmatched":
			return resolution.isName
				? `no document ${where} matches ${shown}, but one is called so: write "${show(literalGlob(name))}"`
				: `no document ${where} matches ${shown}`;
		case "ambiguous": {
			const count = numberText(resolution.documents.length);
			const ids = some(resolution.documents, ({ id }) => show(id), ", ");
			return `${count} documents ${where} are called ${shown}: ${ids}; give the document_id of one`;
		}
	}
}

/** Two names can look alike to the last dot, so it is said what differs. */
function candidateText(wanted: string, { id, name }: Named): string {
	const by = differences(wanted, name);
	// Taken one at a time, differences may hide each other.
	const how = by.length === 0 ? "" : `, another by ${by.join(" and ")}`;
	return `"${show(name)}" (${show(id)}${how})`;
}

function some(documents: readonly Named[], textOf: (document: Named) => string, between: string): string {
	const named = documents.slice(0, NAMED).map(textOf);
	const more = documents.length - named.length;
	return named.join(between) + (more > 0 ? ` and ${numberText(more)} more` : "");
}
