import { hash } from "node:crypto";
import { type Metadata, metadataText } from "../../json/values.ts";
import { ColumnPlan } from "../../manifest/write.ts";
import { payloadText } from "../../manifest/rows/identity.ts";
import type { CheckedManifest, ManifestOptions, NameReference, Problem, Row } from "../../manifest/types.ts";
import { Claims, type Match, type Resolution, resolveName, differences, type Named, Names } from "../../plan/names.ts";
import { hasWildcard, literalGlob } from "../../plan/glob.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import type { Api } from "../../rest/types.ts";
import { allDocuments, type ShortList } from "../../run/documents/list.ts";
import type { Request } from "../../run/types.ts";
import { shortListError } from "../lists/warnings.ts";
import { CliError, Exit } from "../../errors.ts";
import type { Print } from "../lists/documents-csv.ts";

type LookUp = {
	readonly source: Pick<CheckedManifest, "name" | "read">;
	readonly datasets: DatasetNames;
	readonly match: Match;
	readonly onDuplicate: ManifestOptions["onDuplicate"];
	readonly signal: AbortSignal;
};

/** Finds the documents of all rows. Reports each problem, and the metadata of each row that has none. */
export async function lookUp(
	{ source, datasets, match, onDuplicate, signal }: LookUp,
	report: {
		readonly onProblem: (problem: Problem) => Promise<void>;
		readonly onMetadata: (metadata: Metadata) => void;
	},
): Promise<{ readonly failed: number }> {
	let failed = 0;
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const listing = await datasets.of(row.datasetId);
		const resolution = resolve(row, listing, match);
		const reference = nameReferenceOf(row);
		const problem = (code: string, text: string): Promise<void> => {
			failed += 1;
			const { file } = reference;
			return report.onProblem({ file, ...reference.place(), field: "name", code, text: `name: ${text}` });
		};
		if (resolution.kind !== "found") {
			await problem(unresolvedCode(resolution), unresolvedText(resolution, reference.name, row.datasetId));
			continue;
		}
		const place = reference.file === source.name ? `on line ${row.line}` : `for ${reference.file}`;
		const claim = { row: row.index, place, payload: payloadOf(row.metadata) };
		const earlier = listing.claims.take(resolution.documents, claim, onDuplicate);
		if (earlier !== undefined) {
			await problem("DUPLICATE", `the same document as ${earlier.place}, with other values; see --on-duplicate`);
		} else report.onMetadata(row.metadata);
	}
	return { failed };
}

/** A document of a row, under the name that it has or that the row gives. */
type FoundDocument = Pick<Row, "datasetId" | "documentId" | "metadata"> & { readonly name: string };

/** The documents of the rows without a problem, in the order of the rows, once `lookUp` has seen them all. */
export async function* foundDocuments({ source, datasets, match, signal }: LookUp): AsyncGenerator<FoundDocument> {
	for await (const row of source.read()) {
		signal.throwIfAborted();
		const { datasetId, metadata, documentId } = row;
		const { names, claims } = await datasets.of(datasetId);
		const resolution = resolve(row, { names, claims }, match);
		if (resolution.kind !== "found") continue;
		// The list lacks this id, which the manifest gives. So no other row can claim its document.
		if (resolution.documents.length === 0) {
			yield { datasetId, documentId, metadata, name: nameReferenceOf(row).name };
		}
		for (const index of resolution.documents) {
			const document = names.document(index);
			if (document === undefined || !claims.isOwner(index, row.index)) continue;
			const name = documentId === "" ? document.name : nameReferenceOf(row).name;
			yield { datasetId, documentId: document.id, metadata, name };
		}
	}
}

/** A row with an id keeps it. If the dataset lists the id, no other row may give the document other values. */
function resolve({ documentId, nameReference }: Row, { names }: ListedNames, match: Match): Resolution {
	if (documentId === "") return resolveName(names, nameReference?.name ?? "", match);
	const index = names.withId(documentId);
	return { kind: "found", documents: index === undefined ? [] : [index] };
}

function nameReferenceOf({ line, nameReference }: Row): NameReference {
	if (nameReference === undefined) throw new Error(`the row of line ${line} was not read to be resolved`);
	return nameReference;
}

function payloadOf(metadata: Metadata): string {
	return hash("sha256", payloadText(metadata, false), "base64");
}

/** Documents that a message names at most. */
const NAMED = 3;

type Unresolved = Exclude<Resolution, { kind: "found" }>;

/** Stable names for scripts. */
function unresolvedCode({ kind }: Unresolved): "UNKNOWN_NAME" | "AMBIGUOUS_NAME" {
	return kind === "ambiguous" ? "AMBIGUOUS_NAME" : "UNKNOWN_NAME";
}

/** The reason why a name fits no document, and the documents that may be meant. */
function unresolvedText(resolution: Unresolved, name: string, dataset: string): string {
	const shown = `"${show(name)}"`;
	const where = `in dataset ${show(dataset)}`;
	switch (resolution.kind) {
		case "unknown": {
			const text = `no document ${where} is called ${shown}`;
			const { candidates } = resolution;
			if (candidates.length === 0) return hasWildcard(name) ? `${text}; for patterns use --match glob` : text;
			return `${text}; did you mean ${firstFew(candidates, (candidate) => candidateText(name, candidate), " or ")}?`;
		}
		case "unmatched":
			return resolution.isName
				? `no document ${where} matches ${shown}, but a document has exactly this name: write "${show(literalGlob(name))}"`
				: `no document ${where} matches ${shown}`;
		case "ambiguous": {
			const count = numberText(resolution.documents.length);
			const ids = firstFew(resolution.documents, ({ id }) => show(id), ", ");
			return `${count} documents ${where} are called ${shown}: ${ids}; give the document_id of one`;
		}
	}
}

/** A candidate with its difference, because two names can look equal on a terminal. */
function candidateText(wanted: string, { id, name }: Named): string {
	const by = differences(wanted, name);
	// Taken one at a time, differences may hide each other.
	const how = by.length === 0 ? "" : `, another by ${by.join(" and ")}`;
	return `"${show(name)}" (${show(id)}${how})`;
}

function firstFew(documents: readonly Named[], textOf: (document: Named) => string, between: string): string {
	const named = documents.slice(0, NAMED).map(textOf);
	const more = documents.length - named.length;
	return named.join(between) + (more > 0 ? ` and ${numberText(more)} more` : "");
}

/** The names of a dataset, and the rows that claim its documents. */
type ListedNames = { readonly names: Names; readonly claims: Claims };

/**
 * The datasets of the rows, each listed once, when its first row comes.
 *
 * @throws CliError exit 1 where a list stays short: a name that it lacks may exist, and one that it shows once may exist twice
 */
export class DatasetNames {
	readonly #datasets = new Map<string, ListedNames>();
	readonly #api: Api;
	readonly #request: Request;

	constructor(api: Api, request: Request) {
		this.#api = api;
		this.#request = request;
	}

	async of(dataset: string): Promise<ListedNames> {
		const known = this.#datasets.get(dataset);
		if (known !== undefined) return known;
		let short: ShortList | undefined;
		const listing = { names: new Names(), claims: new Claims() };
		for await (const document of allDocuments(this.#api, this.#request, dataset, {
			onShort: (list) => (short = list),
		})) {
			listing.names.add(document);
		}
		if (short !== undefined) throw shortListError(dataset, short, "nothing was printed, because the list of names");
		this.#datasets.set(dataset, listing);
		return listing;
	}
}

/** Prints documents as a manifest. `include` takes all metadata first, because a column's type depends on every value. */
type DocumentPrinter = {
	readonly include: (metadata: Metadata) => void;
	/** Returns how many there were. It stops when `isClosed` is true: the reader has closed the output. */
	print(documents: AsyncIterable<FoundDocument>, print: Print, isClosed: () => boolean): Promise<number>;
};

export function documentPrinter(json: boolean): DocumentPrinter {
	const plan = new ColumnPlan(["document_id", "dataset_id", "name"]);
	return {
		include: (metadata) => (json ? undefined : plan.include(metadata)),
		async print(documents, print, isClosed) {
			if (!json) await print(headOf(plan));
			let count = 0;
			for await (const document of documents) {
				if (isClosed()) break;
				const { documentId, datasetId, name, metadata } = document;
				await print(json ? jsonRow(document) : plan.row([documentId, datasetId, name], metadata));
				count += 1;
			}
			return count;
		},
	};
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

function jsonRow({ documentId, datasetId, name, metadata }: FoundDocument): string {
	const ids = JSON.stringify({ document_id: documentId, dataset_id: datasetId, name });
	return `${ids.slice(0, -1)},"meta_fields":${metadataText(metadata)}}\n`;
}
