import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import type { App, Settings } from "../app.ts";
import { isJsonObject, type Metadata, metadataOf, metadataText } from "../json.ts";
import { ColumnPlan } from "../manifest/index.ts";
import type { ManifestDocument } from "../manifest/index.ts";
import type { Document } from "../rest/types.ts";

const noMetadata: Metadata = new Map();

/** What is printed: standard output, or the file of `--out`. */
export type Print = (text: string) => Promise<void>;

/**
 * Prints documents as a CSV manifest that reads back exactly. `fields` keeps only those metadata keys.
 *
 * A column's type depends on every value of its key, so the documents are kept in a private file until all are seen:
 * memory does not grow with the dataset. Returns how many there were.
 */
export async function printDocumentsCsv(
	documents: AsyncIterable<Document>,
	fields: readonly string[] | undefined,
	settings: Settings,
	app: App,
	print: Print = (text) => app.io.out(text),
): Promise<number> {
	const folder = await mkdtemp(join(await app.temporaryFolder(settings), "ragtag-list-"));
	try {
		const path = join(folder, "documents.jsonl");
		const plan = new ColumnPlan();
		let count = 0;
		const lines = async function* (): AsyncGenerator<string> {
			for await (const { datasetId, id, metadata = noMetadata } of documents) {
				const kept = fields === undefined ? metadata : new Map([...metadata].filter(([key]) => fields.includes(key)));
				plan.see(kept);
				count += 1;
				yield `${JSON.stringify([datasetId, id])}\n${metadataText(kept)}\n`;
			}
		};
		await pipeline(lines, createWriteStream(path, { mode: 0o600 }));
		await print(plan.head());
		for await (const document of spooled(path)) await print(plan.row(document));
		return count;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Reads back what was spooled: a line of ids and a line of metadata for each document. */
async function* spooled(path: string): AsyncGenerator<ManifestDocument> {
	let ids: readonly unknown[] | undefined;
	for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
		const value: unknown = JSON.parse(line);
		if (Array.isArray(value)) ids = value;
		else if (ids !== undefined && isJsonObject(value)) {
			yield { datasetId: String(ids[0]), documentId: String(ids[1]), metadata: metadataOf(value) };
		}
	}
}
