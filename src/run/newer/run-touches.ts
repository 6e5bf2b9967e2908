import { mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { CliError, Exit } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/values.ts";
import { packedPath, readChunks } from "../journal/files.ts";
import { JOURNAL_FILE, readMatchingLines, readRun, SENT_FILE } from "../journal/reader.ts";
import { isRunId, newestOrder, type RunFile } from "../recorded/run-file.ts";
import { datasetIn } from "../recorded/run-lock.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isAbsent, removeQuietly } from "../storage/quick-files.ts";
import { documentHash, sortedOnce } from "./touches.ts";

/** The documents that one execution of a run has touched, as sorted hashes. */
export type ExecutionTouches = {
	/** its number in the order of all executions */
	readonly order: number;
	/** written, removed or uploaded: sent, and not certainly refused */
	readonly written: Float64Array;
	readonly unchanged: Float64Array;
};

/** The documents that a run has touched. */
export type RunTouches = {
	readonly run: string;
	readonly baseUrl: string;
	readonly executions: readonly ExecutionTouches[];
};

/** The folder of these lists, next to the folders of runs. A list outlives the record of its run while an older run needs it. */
const FOLDER = ".touched";

/** A run by its `run.json`, or by the header of its journal. */
export type RunInOrder = Pick<RunFile, "run" | "baseUrl" | "order"> & Partial<Pick<RunFile, "options">>;

/** Increased when the form of a list changes: an older list is then made anew. */
const SCHEMA = 1;

const BYTES = Float64Array.BYTES_PER_ELEMENT;

/**
 * The documents that a run has touched, from its files. The list is kept: it is made anew only after the files have
 * changed.
 *
 * @throws JournalUnreadable, JournalLost as `readRun`
 */
export async function touchesOfRun(runs: RunStore, file: RunInOrder): Promise<RunTouches> {
	const stamp = stampOf(runs.path(file.run));
	const kept = readList(runs, file.run);
	if (kept !== "damaged" && kept?.stamp === stamp) return kept.touches;
	const touches = await readTouches(runs.path(file.run), file);
	// A list that can't be written is made again when it is needed.
	await writeList(runs, touches, stamp).catch(() => undefined);
	return touches;
}

/** The lists of runs whose records were removed. @throws CliError 7 where one is damaged: no record replaces it */
export function touchesOfRemovedRuns(runs: RunStore, recorded: ReadonlySet<string>): RunTouches[] {
	return listNames(runs)
		.filter((run) => !recorded.has(run))
		.flatMap((run) => {
			const kept = readList(runs, run);
			if (kept !== "damaged") return kept?.touches ?? [];
			const path = listPath(runs, run);
			throw new CliError(
				`${path} is damaged: it lists the documents that run ${run} has written, whose record was removed; nothing was sent`,
				{ exit: Exit.storage, hint: "Restore that file, or add --force to write over newer runs as well." },
			);
		});
}

/**
 * Keeps the list of a run whose record is about to be removed, if an older run is recorded, and removes the lists that no
 * recorded run needs any more.
 *
 * @param others all other recorded runs
 * @throws the error of the storage where the list can't be written
 */
export async function keepTouches(runs: RunStore, file: RunFile, others: readonly RunFile[]): Promise<void> {
	const oldest = Math.min(...others.map(({ order = 0 }) => order));
	const recorded = new Set(others.map(({ run }) => run));
	// A damaged record has no list: its removal must be possible all the same.
	const touches =
		oldest < newestOrder(file) ? await readTouches(runs.path(file.run), file).catch(() => undefined) : undefined;
	if (touches !== undefined) await writeList(runs, touches, stampOf(runs.path(file.run)));
	for (const run of listNames(runs)) {
		const isOwn = run === file.run;
		if (recorded.has(run)) continue;
		const kept = readList(runs, run);
		// It is not known which older runs need a damaged list.
		if (kept === "damaged" && others.length > 0) continue;
		const orders = kept === "damaged" ? [] : (kept?.touches.executions.map(({ order }) => order) ?? []);
		const newest = Math.max(isOwn ? newestOrder(file) : 0, ...orders);
		if (newest <= oldest) removeQuietly(listPath(runs, run));
	}
}

async function readTouches(folder: string, file: RunInOrder): Promise<RunTouches> {
	const { run, baseUrl, order: began = 0 } = file;
	const recorded = await readRun(folder);
	if (recorded === undefined) return { run, baseUrl, executions: [] };
	const { state, sent } = recorded;
	const [written, unchanged] = [new HashLists(), new HashLists()];
	const datasets = new Set([datasetIn(file)]);
	await recorded.eachSentDocument(({ row, datasetId, documentId, order }) => {
		datasets.add(datasetId);
		if (!state.isUntouched(row)) written.add(order, documentHash(datasetId, documentId));
	});
	// A repair may have lost records of what was sent. Then the outcomes name the documents, without their dataset.
	const isLossy = sent.lost > 0;
	if (isLossy || state.totals().unchanged > 0) {
		let order = began;
		const journal = join(folder, JOURNAL_FILE);
		const chunks = (await readChunks(journal)) ?? [];
		await readMatchingLines(chunks, journal, isLossy ? () => true : isHeaderOrUnchanged, (record) => {
			if (record.kind === "header") order = record.order ?? began;
			if (record.kind !== "outcome") return;
			const { row, status, datasetId, documentId } = record;
			if (status === "unchanged" && datasetId !== undefined) unchanged.add(order, documentHash(datasetId, documentId));
			if (!isLossy || status === "unchanged" || state.isUntouched(row)) return;
			for (const dataset of datasets) written.add(order, documentHash(dataset, documentId));
		});
	}
	const orders = new Set([...written.orders, ...unchanged.orders]);
	const executions = [...orders].map((order) => ({
		order,
		written: written.sorted(order),
		unchanged: unchanged.sorted(order),
	}));
	return { run, baseUrl, executions };
}

const HEADER = Buffer.from('"k":"h"');
const UNCHANGED = Buffer.from('"s":"unchanged"');

function isHeaderOrUnchanged(bytes: Uint8Array): boolean {
	const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
	return line.includes(UNCHANGED) || line.includes(HEADER);
}

/** Growing lists of hashes, by the number of their execution. */
class HashLists {
	readonly #lists = new Map<number, { hashes: Float64Array; length: number }>();

	get orders(): readonly number[] {
		return [...this.#lists.keys()];
	}

	add(order: number, hash: number): void {
		let list = this.#lists.get(order);
		if (list === undefined) this.#lists.set(order, (list = { hashes: new Float64Array(1024), length: 0 }));
		if (list.length === list.hashes.length) {
			const larger = new Float64Array(list.length * 2);
			larger.set(list.hashes);
			list.hashes = larger;
		}
		list.hashes[list.length++] = hash;
	}

	sorted(order: number): Float64Array {
		const list = this.#lists.get(order);
		return list === undefined ? new Float64Array(0) : sortedOnce(list.hashes.subarray(0, list.length));
	}
}

/** The lengths of a run's files, which only grow. */
function stampOf(folder: string): string {
	return [JOURNAL_FILE, SENT_FILE]
		.flatMap((name) => [join(folder, name), packedPath(join(folder, name))])
		.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? "-")
		.join(" ");
}

function listPath(runs: RunStore, run: string): string {
	return runs.path(FOLDER, run);
}

function listNames(runs: RunStore): string[] {
	try {
		return readdirSync(runs.path(FOLDER)).filter(isRunId);
	} catch (error) {
		if (isAbsent(error)) return [];
		throw error;
	}
}

/** Writes a list: a line of JSON, then the hashes. The file is complete or absent. */
async function writeList(runs: RunStore, { run, baseUrl, executions }: RunTouches, stamp: string): Promise<void> {
	const hashes = Buffer.concat(executions.flatMap(({ written, unchanged }) => [bytesOf(written), bytesOf(unchanged)]));
	const listed = executions.map(({ order, written, unchanged }) => [order, written.length, unchanged.length]);
	const crc = checksum(listed, hashes);
	const head: JsonObject = { schema: SCHEMA, base_url: baseUrl, stamp, crc, executions: listed };
	mkdirSync(runs.path(FOLDER), { recursive: true, mode: 0o700 });
	const path = listPath(runs, run);
	const draft = `${path}.new`;
	const file = await open(draft, "w", 0o600);
	try {
		await file.writeFile(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), hashes]));
		await file.datasync();
	} finally {
		await file.close();
	}
	renameSync(draft, path);
}

function checksum(executions: readonly JsonValue[], hashes: Uint8Array): number {
	return crc32(hashes, crc32(JSON.stringify(executions)));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
	return Buffer.from(buffer, byteOffset, byteLength);
}

type KeptList = { readonly touches: RunTouches; readonly stamp: string };

/** @returns undefined where there is no list, "damaged" where this version has not written it whole */
function readList(runs: RunStore, run: string): KeptList | "damaged" | undefined {
	let bytes: Buffer;
	try {
		bytes = readFileSync(listPath(runs, run));
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
	const end = bytes.indexOf("\n");
	const head = jsonObjectOf(bytes.toString("utf8", 0, Math.max(0, end)));
	if (!isJsonObject(head) || head["schema"] !== SCHEMA) return "damaged";
	const { base_url: baseUrl, stamp, crc, executions: listed } = head;
	if (typeof baseUrl !== "string" || typeof stamp !== "string" || !isJsonArray(listed)) return "damaged";
	const hashes = bytes.subarray(end + 1);
	if (checksum(listed, hashes) !== crc) return "damaged";
	let at = hashes.byteOffset;
	const take = (length: number): Float64Array => {
		const part = new Float64Array(hashes.buffer.slice(at, at + length * BYTES));
		at += length * BYTES;
		return part;
	};
	const executions: ExecutionTouches[] = [];
	for (const entry of listed) {
		const [order, written, unchanged] = isJsonArray(entry) ? entry : [];
		if (typeof order !== "number" || typeof written !== "number" || typeof unchanged !== "number") return "damaged";
		executions.push({ order, written: take(written), unchanged: take(unchanged) });
	}
	return { touches: { run, baseUrl, executions }, stamp };
}
