import { ColumnPlan } from "../../src/manifest/write.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkManifest } from "../../src/manifest/check.ts";
import type { CheckedManifest, ManifestOptions, Problem, Row } from "../../src/manifest/types.ts";

export const TAG: ManifestOptions = {
	purpose: "tag",
	dataset: "d1",
	map: new Map(),
	ignore: new Set(),
	set: new Map(),
	empty: "skip",
	schema: undefined,
	onDuplicate: "error",
	filesRoot: undefined,
};

export type Outcome = {
	readonly problems: readonly Problem[];
	/** `LINE:COLUMN CODE` of each problem */
	readonly places: readonly string[];
	readonly rows: readonly Row[];
	readonly failed: readonly string[];
	readonly checked: Pick<CheckedManifest, "format" | "rows" | "invalid" | "duplicateSkipped" | "problems" | "fatal">;
};

/** Checks and reads bytes as the program does with standard input. */
export async function checkBytes(
	bytes: string | Uint8Array,
	options: Partial<ManifestOptions> = {},
	chunk = Number.POSITIVE_INFINITY,
): Promise<Outcome> {
	const buffer = typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes);
	return check("-", options, inChunks(buffer, Math.min(chunk, Math.max(buffer.length, 1))));
}

/** Checks and reads a file. */
export async function check(
	path: string,
	options: Partial<ManifestOptions> = {},
	stdin: AsyncIterable<Uint8Array> = inChunks(Buffer.alloc(0), 1),
): Promise<Outcome> {
	const problems: Problem[] = [];
	const checked = await checkManifest(
		path,
		{ ...TAG, ...options },
		{ stdin, onProblem: (problem) => problems.push(problem) },
	);
	try {
		const rows: Row[] = [];
		for await (const row of checked.read()) rows.push(row);
		const failure = { line: 7, code: "HTTP_500", text: 'said "no", twice', attempts: 3 };
		const failed = [checked.failedRows.head, ...rows.map(({ source }) => checked.failedRows.row(source, failure))];
		const places = problems.map(({ line, column, code }) => `${line}:${column} ${code}`);
		return { problems, places, rows, failed, checked };
	} finally {
		await checked.close();
	}
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Rows as plain values: id, dataset and metadata. */
export function plain(rows: readonly Row[]): unknown[] {
	return rows.map(({ datasetId, documentId, metadata }) => [datasetId, documentId, Array.from(metadata)]);
}

export async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), "ragtag-test-"));
	try {
		await work(folder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

export async function file(folder: string, name: string, content: string | Uint8Array): Promise<string> {
	const path = join(folder, name);
	await writeFile(path, content);
	return path;
}

/** A whole CSV manifest. */
export function* formatCsvManifest(
	documents: Iterable<Pick<Row, "datasetId" | "documentId" | "metadata">>,
): Generator<string> {
	const plan = new ColumnPlan(["document_id", "dataset_id"]);
	for (const { metadata } of documents) plan.include(metadata);
	yield plan.head();
	for (const { documentId, datasetId, metadata } of documents) yield plan.row([documentId, datasetId], metadata);
}
