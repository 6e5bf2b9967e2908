import { hash } from "node:crypto";
import type { Metadata } from "../../json/values.ts";
import { type ManifestDocument, payloadText } from "../../manifest/index.ts";
import type { CheckedManifest, ManifestOptions, Problem, Row, Wanted } from "../../manifest/types.ts";
import { type Match, type Resolution, resolveName } from "../../plan/resolve.ts";
import type { Listing, Listings } from "./listings.ts";
import { unresolvedCode, unresolvedText } from "./words.ts";

export type LookUp = {
	readonly source: Pick<CheckedManifest, "name" | "read">;
	readonly listings: Listings;
	readonly match: Match;
	readonly onDuplicate: ManifestOptions["onDuplicate"];
	readonly signal: AbortSignal;
};

/** Finds the documents of all rows. Each problem, and the metadata of each row without one, is told. */
export async function lookUp(
	{ source, listings, match, onDuplicate, signal }: LookUp,
	tell: { readonly onProblem: (problem: Problem) => Promise<void>; readonly onMetadata: (metadata: Metadata) => void },
): Promise<{ readonly failed: number }> {
	let failed = 0;
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const listing = await listings.of(row.datasetId);
		const resolution = resolve(row, listing, match);
		const wanted = wantedOf(row);
		const problem = (code: string, text: string): Promise<void> => {
			failed += 1;
			const { file } = wanted;
			return tell.onProblem({ file, ...wanted.place(), field: "name", code, text: `name: ${text}` });
		};
		if (resolution.kind !== "found") {
			await problem(unresolvedCode(resolution), unresolvedText(resolution, wanted.name, row.datasetId));
			continue;
		}
		const place = wanted.file === source.name ? `on line ${row.line}` : `for ${wanted.file}`;
		const claim = { row: row.index, place, payload: payloadOf(row.metadata) };
		const earlier = listing.claims.take(resolution.documents, claim, onDuplicate);
		if (earlier !== undefined) {
			await problem("DUPLICATE", `the same document as ${earlier.place}, with other values; see --on-duplicate`);
		} else tell.onMetadata(row.metadata);
	}
	return { failed };
}

/** The documents of the rows without a problem, in the order of the rows, once `lookUp` has seen them all. */
export async function* foundDocuments({ source, listings, match, signal }: LookUp): AsyncGenerator<ManifestDocument> {
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const { datasetId, metadata, documentId } = row;
		const { names, claims } = await listings.of(datasetId);
		const resolution = resolve(row, { names, claims }, match);
		if (resolution.kind !== "found") continue;
		// An id that is not listed is the word of the manifest: it belongs to nobody here.
		if (resolution.documents.length === 0) {
			yield { datasetId, documentId, metadata, members: [wantedOf(row).name] };
		}
		for (const index of resolution.documents) {
			const document = names.document(index);
			if (document === undefined || !claims.isOwner(index, row.index)) continue;
			const name = documentId === "" ? document.name : wantedOf(row).name;
			yield { datasetId, documentId: document.id, metadata, members: [name] };
		}
	}
}

/** A row that has an id keeps it; where the dataset lists it, no other row may say something else of it. */
function resolve({ documentId, wanted }: Row, { names }: Listing, match: Match): Resolution {
	if (documentId === "") return resolveName(names, wanted?.name ?? "", match);
	const index = names.withId(documentId);
	return { kind: "found", documents: index === undefined ? [] : [index] };
}

function wantedOf({ line, wanted }: Row): Wanted {
	if (wanted === undefined) throw new Error(`the row of line ${line} was not read to be resolved`);
	return wanted;
}

function payloadOf(metadata: Metadata): string {
	return hash("sha256", payloadText(metadata, false), "base64");
}
