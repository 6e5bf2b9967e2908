import { readdirSync, readFileSync } from "node:fs";
import { constants, gunzipSync, gzipSync } from "node:zlib";
import * as v from "valibot";
import { CliError, errorCode, Exit, quietly } from "../../errors.ts";
import { parseAs } from "../../json/parse-as.ts";
import { idKey } from "../../text/names.ts";
import { writeWhole } from "../../write-whole.ts";
import { namesIn } from "../journal/record-line.ts";
import { readRun } from "../journal/reader.ts";
import { repairRun } from "../journal/repair.ts";
import { isRunId, newestOrder, type RunFile } from "../recorded/run-file.ts";
import { datasetIn } from "../recorded/run-lock.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isComplete } from "../recorded/run-summary.ts";
import { undoneRunOf } from "../recorded/unfinished.ts";
import { makeFolder } from "../storage/folders.ts";
import { ifThere, isAbsent, removeFile } from "../storage/quick-files.ts";

/** Bits of a document's hash that its upper part has: together with 32 bits, the most that are exact in a number. */
const UPPER_BITS = 21;

/**
 * A hash of a document's ids, as a whole number below 2⁵³. Two of a million documents have the same one with a chance of
 * one in ten thousand, and then a row is left alone that could have been sent.
 */
export function documentHash(datasetId: string, documentId: string): number {
	const key = `${idKey(datasetId)}\0${idKey(documentId)}`;
	return (hash(key, 0x811c9dc5) >>> (32 - UPPER_BITS)) * 2 ** 32 + hash(key, 0x9747b28c);
}

/** FNV-1a, and the last step of MurmurHash3, so that each bit depends on every character. A cryptographic hash takes ten times as long. */
function hash(text: string, seed: number): number {
	let value = seed;
	for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
	value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
	value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
	return (value ^ (value >>> 16)) >>> 0;
}

/** The folder of the lists of removed runs, next to the folders of runs. A list is kept while an older run needs it. */
const FOLDER = ".touched";

const HASHES = v.pipe(
	v.custom<readonly number[]>(Array.isArray),
	v.transform((hashes) => new Set(hashes)),
);

/** A list: the hashes of documents, as compressed JSON. `gzip` has a checksum, so a damaged list is noticed. */
const LIST = v.object({
	/** increased when the form of a list changes */
	schema: v.literal(3),
	baseUrl: v.string(),
	executions: v.array(
		v.object({
			/** its number in the order of all executions */
			order: v.number(),
			/** written, removed or uploaded: sent, and not certainly refused */
			written: HASHES,
			unchanged: HASHES,
		}),
	),
	/** of an undo whose record was removed: the run that it takes back, and whether it has done so completely */
	undoes: v.optional(v.object({ run: v.string(), isComplete: v.boolean() })),
});

/** The documents that a run has touched, by execution. */
export type RunTouches = Readonly<Omit<v.InferOutput<typeof LIST>, "schema">> & { readonly run: string };

/** A run by its `run.json`, or by the header of its journal. */
export type RunInOrder = Pick<RunFile, "run" | "baseUrl" | "order"> &
	Partial<Pick<RunFile, "lastOrder" | "options" | "command" | "manifest">>;

/** The lists of runs whose records were removed. @throws CliError 7 where one is damaged or of an older format: no record replaces it */
export function touchesOfRemovedRuns(runs: RunStore, recorded: ReadonlySet<string>): RunTouches[] {
	return listNames(runs)
		.filter((run) => !recorded.has(run))
		.flatMap((run) => {
			const kept = readList(runs, run);
			if (kept !== "damaged") return kept ?? [];
			const path = listPath(runs, run);
			throw new CliError(
				`${path} is damaged or of an older format: it lists what run ${run} has written, whose record was removed; nothing was sent`,
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
export async function keepTouches(runs: RunStore, file: RunInOrder, others: readonly RunFile[]): Promise<void> {
	const oldest = Math.min(...others.map(({ order }) => order));
	const recorded = new Set(others.map(({ run }) => run));
	const read = (): Promise<RunTouches> => touchesOfRun(runs, file);
	// Where nothing of a damaged record can be read, its removal must be possible all the same.
	const repaired = (): Promise<RunTouches | undefined> =>
		repairRun(runs.path(file.run), () => new Date()).then(read, () => undefined);
	const touches = oldest < newestOrder(file) ? await read().catch(repaired) : undefined;
	if (touches !== undefined) await writeList(runs, { ...touches, undoes: undoneBy(runs, file) });
	for (const run of listNames(runs)) {
		const isOwn = run === file.run;
		if (recorded.has(run)) continue;
		const kept = readList(runs, run);
		// It is not known which older runs need a damaged list.
		if (kept === "damaged" && others.length > 0) continue;
		const orders = kept === "damaged" ? [] : (kept?.executions.map(({ order }) => order) ?? []);
		const newest = Math.max(isOwn ? newestOrder(file) : 0, ...orders);
		// A list that stays does no harm.
		if (newest <= oldest) quietly(() => removeFile(listPath(runs, run)));
	}
}

/** The run that a run takes back; undefined where it is no undo. */
export function undoneBy(runs: RunStore, { run, command, manifest }: RunInOrder): RunTouches["undoes"] {
	const undone = command === undefined || manifest === undefined ? undefined : undoneRunOf({ command, manifest });
	return undone === undefined ? undefined : { run: undone, isComplete: isComplete(runs, run) };
}

/**
 * The documents that a run has touched, from its journal.
 *
 * @throws JournalUnreadable, JournalLost as `readRun`
 */
export async function touchesOfRun(runs: RunStore, file: RunInOrder): Promise<RunTouches> {
	const { run, baseUrl } = file;
	const recorded = await readRun(runs.path(run));
	if (recorded === undefined) return { run, baseUrl, executions: [] };
	const { state } = recorded;
	const executions = new Map<number, RunTouches["executions"][number]>();
	const add = (order: number, kind: "written" | "unchanged", hash: number): void => {
		const execution = executions.get(order) ?? { order, written: new Set(), unchanged: new Set() };
		executions.set(order, execution);
		execution[kind].add(hash);
	};
	const datasets = new Set([datasetIn(file)]);
	for await (const entry of recorded.entries()) {
		const { facts, row, order } = entry;
		if (facts?.kind !== "sent" && facts?.kind !== "stored" && facts?.kind !== "outcome") continue;
		const { datasetId, documentId } = namesIn(entry);
		if (facts.kind === "outcome") {
			const hash = documentHash(datasetId, documentId);
			if (datasetId !== "" && facts.status === "unchanged") add(order, "unchanged", hash);
			if (datasetId !== "" && facts.status === "parsed") add(order, "written", hash);
			continue;
		}
		datasets.add(datasetId);
		// The record that an upload is sent has no document yet.
		if (documentId !== "" && !state.isUntouched(row)) add(order, "written", documentHash(datasetId, documentId));
	}
	// A repair may have lost records of what was sent. Then the outcomes name the documents, without their dataset.
	for await (const entry of state.lost > 0 ? recorded.entries() : []) {
		const { datasetId, documentId } = namesIn(entry);
		if (entry.facts?.kind !== "outcome" || datasetId !== "" || state.isUntouched(entry.row)) continue;
		for (const dataset of datasets) add(entry.order, "written", documentHash(dataset, documentId));
	}
	return { run, baseUrl, executions: [...executions.values()] };
}

function listPath(runs: RunStore, run: string): string {
	return runs.path(FOLDER, run);
}

function listNames(runs: RunStore): string[] {
	return (ifThere(() => readdirSync(runs.path(FOLDER))) ?? []).filter(isRunId);
}

/** Writes a list. The file is complete or absent. */
async function writeList(runs: RunStore, { run, ...touches }: RunTouches): Promise<void> {
	const text = JSON.stringify({ schema: 3, ...touches }, (_, value: unknown) =>
		value instanceof Set ? [...value] : value,
	);
	makeFolder(runs.path(FOLDER));
	await writeWhole(listPath(runs, run), gzipSync(text, { level: constants.Z_BEST_SPEED }));
}

/** @returns undefined where there is no list, "damaged" where this version has not written it whole */
function readList(runs: RunStore, run: string): RunTouches | "damaged" | undefined {
	try {
		const text = gunzipSync(readFileSync(listPath(runs, run))).toString("utf8");
		const list = parseAs(LIST, text);
		return list === undefined ? "damaged" : { run, ...list };
	} catch (error) {
		if (isAbsent(error)) return undefined;
		if (errorCode(error)?.startsWith("Z_") === true) return "damaged";
		throw error;
	}
}
