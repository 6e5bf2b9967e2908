import { hash } from "node:crypto";
import { canonicalObject, membersText, type Metadata } from "../../json/values.ts";
import { problemOf } from "../../manifest/fault.ts";
import type { ColumnPlan } from "../../manifest/write.ts";
import type { CheckedManifest, ManifestOptions, NameReference, Problem, Row } from "../../manifest/types.ts";
import { Claims, type Match, type Resolution, resolveName, type Named, Names } from "../../plan/names.ts";
import { hasWildcard, literalGlob } from "../../plan/glob.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import type { Api } from "../../rest/types.ts";
import { allDocuments } from "../../run/documents/list.ts";
import type { Request } from "../../run/types.ts";
import { refuseShort } from "../lists/warnings.ts";
import { CliError, Exit } from "../../errors.ts";
import type { Print } from "../lists/documents-csv.ts";

type LookUp = {
	readonly source: Pick<CheckedManifest, "name" | "read">;
	readonly namesOf: NamesOf;
	readonly match: Match;
	readonly onDuplicate: ManifestOptions["onDuplicate"];
	readonly signal: AbortSignal;
};

/** Finds the documents of all rows. Reports each problem, and the metadata of each row that has none. */
export async function lookUp(
	{ source, namesOf, match, onDuplicate, signal }: LookUp,
	onProblem: (problem: Problem) => Promise<void>,
	onMetadata: (metadata: Metadata) => void,
): Promise<void> {
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const listing = await namesOf(row.datasetId);
		const resolution = resolve(row, listing, match);
		const reference = nameReferenceOf(row);
		const problem = (code: string, text: string): Promise<void> =>
			onProblem(problemOf(reference.file, { field: "name", code, text }, reference.place()));
		if (resolution.kind !== "found") {
			// Stable names for scripts.
			const code = resolution.kind === "ambiguous" ? "AMBIGUOUS_NAME" : "UNKNOWN_NAME";
			await problem(code, unresolvedText(resolution, reference.name, row.datasetId));
			continue;
		}
		const place = reference.file === source.name ? `on line ${row.line}` : `for ${reference.file}`;
		const payload = hash("sha256", canonicalObject(row.metadata), "base64");
		const claim = { row: row.index, place, payload };
		const earlier = listing.claims.take(resolution.documents, claim, onDuplicate);
		if (earlier !== undefined) {
			await problem("DUPLICATE", `the same document as ${earlier.place}, with other values; see --on-duplicate`);
		} else onMetadata(row.metadata);
	}
}

/** A document of a row, under the name that it has or that the row gives. */
type FoundDocument = Pick<Row, "datasetId" | "documentId" | "metadata"> & { readonly name: string };

/** The documents of the rows without a problem, in the order of the rows, once `lookUp` has seen them all. */
export async function* foundDocuments({ source, namesOf, match, signal }: LookUp): AsyncGenerator<FoundDocument> {
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const { datasetId, metadata, documentId } = row;
		const { names, claims } = await namesOf(datasetId);
		const resolution = resolve(row, { names, claims }, match);
		if (resolution.kind !== "found") continue;
		// The list lacks this id, which the manifest gives. So no other row can claim its document.
		if (resolution.documents.length === 0) {
			yield { datasetId, documentId, metadata, name: nameReferenceOf(row).name };
		}
		for (const document of resolution.documents) {
			if (!claims.isOwner(document, row.index)) continue;
			const name = documentId === "" ? document.name : nameReferenceOf(row).name;
			yield { datasetId, documentId: document.id, metadata, name };
		}
	}
}

/** A row with an id keeps it. If the dataset lists the id, no other row may give the document other values. */
function resolve({ documentId, nameReference }: Row, { names }: ListedNames, match: Match): Resolution {
	if (documentId === "") return resolveName(names, nameReference?.name ?? "", match);
	const document = names.withId(documentId);
	return { kind: "found", documents: document === undefined ? [] : [document] };
}

function nameReferenceOf({ line, nameReference }: Row): NameReference {
	if (nameReference === undefined) throw new Error(`the row of line ${line} was not read to be resolved`);
	return nameReference;
}

/** Documents that a message names at most. */
const NAMED = 3;

/** The reason why a name fits no document, and the documents that may be meant. */
function unresolvedText(resolution: Resolution, name: string, dataset: string): string {
	const shown = `"${show(name)}"`;
	const where = `in dataset ${show(dataset)}`;
	if (resolution.kind === "unmatched") {
		const text = `no document ${where} matches ${shown}`;
		return resolution.isName
			? `${text}, but a document has exactly this name: write "${show(literalGlob(name))}"`
			: text;
	}
	if (resolution.kind === "unknown") {
		const text = `no document ${where} is called ${shown}`;
		const { candidates } = resolution;
		if (candidates.length === 0) return hasWildcard(name) ? `${text}; for patterns use --match glob` : text;
		return `${text}; did you mean ${firstFew(candidates, (candidate) => candidateText(name, candidate), " or ")}?`;
	}
	const count = numberText(resolution.documents.length);
	const ids = firstFew(resolution.documents, ({ id }) => show(id), ", ");
	return `${count} documents ${where} are called ${shown}: ${ids}; give the document_id of one`;
}

function candidateText(wanted: string, { id, name }: Named): string {
	const isLike = wanted.normalize("NFKC") === name.normalize("NFKC");
	return `"${show(name)}" (${show(id)}${isLike ? ", in another Unicode form" : ""})`;
}

function firstFew(documents: readonly Named[], textOf: (document: Named) => string, between: string): string {
	const named = documents.slice(0, NAMED).map(textOf);
	const more = documents.length - named.length;
	return named.join(between) + (more > 0 ? ` and ${numberText(more)} more` : "");
}

/** The names of a dataset, and the rows that claim its documents. */
type ListedNames = { readonly names: Names; readonly claims: Claims };

/** Gives the names of a dataset, each of which is listed once, when its first row comes. */
type NamesOf = (dataset: string) => Promise<ListedNames>;

/**
 * @throws CliError exit 1 where a list stays short: a name that it lacks may exist, and one that it shows once may exist twice
 */
export function namesOfDatasets(api: Api, request: Request): NamesOf {
	const datasets = new Map<string, ListedNames>();
	return async (dataset) => {
		const known = datasets.get(dataset);
		if (known !== undefined) return known;
		const listing = { names: new Names(), claims: new Claims() };
		const onShort = refuseShort(dataset, "nothing was printed, because the list of names");
		const all = allDocuments({ api, request, datasetId: dataset }, { onShort });
		for await (const document of all) listing.names.add(document);
		datasets.set(dataset, listing);
		return listing;
	};
}

/** Prints documents as a manifest, and returns how many there were. @param plan the columns of a table; JSON lines without */
export async function printFound(
	documents: AsyncIterable<FoundDocument>,
	plan: ColumnPlan | undefined,
	print: Print,
	isClosed: () => boolean,
): Promise<number> {
	if (plan !== undefined) await print(headOf(plan));
	let count = 0;
	for await (const { documentId, datasetId, name, metadata } of documents) {
		if (isClosed()) break;
		const json = { document_id: documentId, dataset_id: datasetId, name, meta_fields: metadata };
		await print(plan?.row([documentId, datasetId, name], metadata) ?? `${membersText(json)}\n`);
		count += 1;
	}
	return count;
}

function headOf(plan: ColumnPlan): string {
	try {
		return plan.head();
	} catch (error) {
		if (!(error instanceof CliError)) throw error;
		// Requests were sent, so this is not exit 2.
		throw new CliError(error.message, { exit: Exit.failedRows, hint: "Print JSON lines with --json.", cause: error });
	}
}
