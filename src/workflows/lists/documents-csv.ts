import { open } from "node:fs/promises";
import type { App, Settings } from "../../app.ts";
import { jsonObjectOf, parseJson } from "../../json/parse-json.ts";
import { isJsonArray, type Metadata, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import { ColumnPlan } from "../../manifest/write.ts";
import type { Document } from "../../rest/types.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import { documentColumn, documentMembers } from "./document-table.ts";
import type { ListColumn } from "./list-output.ts";

const noMetadata: Metadata = new Map();
const BARE = /^-?(?:NaN|Infinity)$/;

/** Prints to standard output or to the file of `--out`. */
export type Print = (text: string) => Promise<void>;

type DocumentsCsv = {
	/** metadata keys to keep, and members of a document to add; undefined for all keys and the name */
	readonly fields?: readonly string[] | undefined;
	readonly settings: Settings;
	readonly app: App;
	/** default: standard output */
	readonly print?: Print;
	/** in place of the ids and the name */
	readonly columns?: readonly ListColumn<Document>[];
};

/** Columns that every manifest has. */
const IDS: readonly string[] = ["document_id", "dataset_id"];

/** Members that are no metadata for a manifest, and stand in it by default. It would read other members as metadata. */
const KNOWN_TO_MANIFESTS: readonly string[] = ["name"];

/**
 * Prints documents as a CSV manifest that reads back exactly. Returns their number.
 *
 * The type of a column depends on every value of its key. So the documents are kept in a private file until all are read, and
 * memory does not grow with the dataset.
 *
 * @throws CliError exit 7 where they can't be kept
 */
export async function printDocumentsCsv(
	documents: AsyncIterable<Document>,
	{ fields, settings, app, print = (text) => app.io.out(text), columns: given }: DocumentsCsv,
): Promise<number> {
	const members = given === undefined ? membersOf(fields) : [];
	const surplus = members.filter((member) => !KNOWN_TO_MANIFESTS.includes(member));
	if (surplus.length > 0) app.io.note(surplusNote(surplus, fields));
	const columns = given ?? [...IDS, ...members].map(documentColumn);
	const plan = new ColumnPlan(columns.map(({ name }) => name));
	let count = 0;
	const lines = async function* (): AsyncGenerator<string> {
		for await (const document of documents) {
			// A manifest can't hold a bare `NaN` or infinity. Where it is one of several values, the cell has them all, and is
			// refused when it is read back.
			const isBare = (key: string): boolean => BARE.test(document.inexact?.get(key) ?? "");
			const exact = new Map([...(document.inexact ?? [])].filter(([key]) => !isBare(key)));
			const kept = new Map([...keptOf(document, fields)].filter(([key]) => !isBare(key)));
			plan.include(kept, exact);
			count += 1;
			// A manifest's reader ignores the name, but a NUL in any cell is a fault of its row.
			const cells = columns.map(({ cell }) => cell(document).replaceAll("\0", "\\x00"));
			// From Node 24 on, a reader of lines also divides at these two.
			const line = JSON.stringify([metadataText(exact), metadataText(kept), ...cells]);
			yield `${line.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
		}
	};
	const path = await temporaryFile(await app.temporaryFolder(settings), "what the documents have", lines());
	await print(plan.head());
	for await (const row of spooled(path)) await print(plan.row(...row));
	return count;
}

function membersOf(fields: readonly string[] = KNOWN_TO_MANIFESTS): string[] {
	return [...new Set(fields)].filter((field) => documentMembers.has(field) && !IDS.includes(field));
}

/** The advice for writing back a list with such columns: they would be read as metadata. */
function surplusNote(surplus: readonly string[], fields: readonly string[] = []): string {
	const columns = `${surplus.length === 1 ? "This column is" : "These columns are"} no metadata: ${surplus.join(", ")}.`;
	// --ignore also leaves out a metadata key of that name, and only here there can be one.
	if (fields.includes("meta_fields"))
		return `${columns} Take ${surplus.length === 1 ? "it" : "them"} out before docs tag reads this list.`;
	const ignore = surplus.map((member) => `--ignore ${member}`).join(" ");
	return `${columns} To write this list back: ragtag docs tag FILE ${ignore}`;
}

function keptOf({ metadata = noMetadata }: Document, fields: readonly string[] | undefined): Metadata {
	if (fields === undefined || fields.includes("meta_fields")) return metadata;
	return new Map([...metadata].filter(([key]) => fields.includes(key) && !documentMembers.has(key)));
}

/** Reads the private file: a line for each document, with its exact texts, its metadata, its ids and members. */
async function* spooled(path: string): AsyncGenerator<Required<Parameters<ColumnPlan["row"]>>> {
	await using file = await open(path);
	for await (const line of file.readLines()) {
		const value = parseJson(line);
		const [exact = "{}", metadata = "{}", ...cells] = isJsonArray(value) ? value.map(String) : [];
		yield [cells, metadataOf(jsonObjectOf(metadata) ?? {}), textsOf(parseJson(exact))];
	}
}
