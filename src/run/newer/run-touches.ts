import { statSync } from "node:fs";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { countedOf, kindOf, namesIn } from "../journal/decode.ts";
import { packedPath } from "../journal/files.ts";
import { JOURNAL_FILE, readRun } from "../journal/reader.ts";
import { repairRun } from "../journal/repair.ts";
import { newestOrder, type RunFile } from "../recorded/run-file.ts";
import { datasetIn } from "../recorded/run-lock.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isComplete } from "../recorded/run-summary.ts";
import { removeQuietly } from "../storage/quick-files.ts";
import {
	documentHash,
	sortedOnce,
	listNames,
	listPath,
	readList,
	type RunTouches,
	type Undone,
	writeList,
} from "./touches.ts";
import { undoneRunOf } from "../recorded/unfinished.ts";

/** A run by its `run.json`, or by the header of its journal. */
export type RunInOrder = Pick<RunFile, "run" | "baseUrl" | "order"> &
	Partial<Pick<RunFile, "lastOrder" | "options" | "command" | "manifest">>;

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
export async function keepTouches(runs: RunStore, file: RunInOrder, others: readonly RunFile[]): Promise<void> {
	const oldest = Math.min(...others.map(({ order = 0 }) => order));
	const recorded = new Set(others.map(({ run }) => run));
	const folder = runs.path(file.run);
	const read = (): Promise<RunTouches> => readTouches(folder, file);
	// Where nothing of a damaged record can be read, its removal must be possible all the same.
	const repaired = (): Promise<RunTouches | undefined> =>
		repairRun(folder, () => new Date()).then(read, () => undefined);
	const touches = oldest < newestOrder(file) ? await read().catch(repaired) : undefined;
	if (touches !== undefined) await writeList(runs, { ...touches, undoes: undoneBy(runs, file) }, stampOf(folder));
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

/** The run that a run takes back; undefined where it is no undo. */
export function undoneBy(runs: RunStore, { run, command, manifest }: RunInOrder): Undone | undefined {
	const undone = command === undefined || manifest === undefined ? undefined : undoneRunOf({ command, manifest });
	return undone === undefined ? undefined : { run: undone, isComplete: isComplete(runs, run) };
}

async function readTouches(folder: string, file: RunInOrder): Promise<RunTouches> {
	const { run, baseUrl } = file;
	const recorded = await readRun(folder);
	if (recorded === undefined) return { run, baseUrl, executions: [] };
	const { state } = recorded;
	const [written, unchanged] = [new HashLists(), new HashLists()];
	const datasets = new Set([datasetIn(file)]);
	for await (const entry of recorded.entries()) {
		const kind = kindOf(entry);
		if (kind !== "sent" && kind !== "stored" && kind !== "outcome") continue;
		const { row, order } = entry;
		const { datasetId, documentId } = namesIn(entry);
		if (kind === "outcome") {
			const outcome = datasetId === "" ? undefined : countedOf(entry);
			const status = outcome?.kind === "outcome" ? outcome.status : undefined;
			if (status === "unchanged") unchanged.add(order, documentHash(datasetId, documentId));
			if (status === "parsed") written.add(order, documentHash(datasetId, documentId));
			continue;
		}
		datasets.add(datasetId);
		// The record that an upload is sent has no document yet.
		if (documentId !== "" && !state.isUntouched(row)) written.add(order, documentHash(datasetId, documentId));
	}
	// A repair may have lost records of what was sent. Then the outcomes name the documents, without their dataset.
	for await (const entry of state.lost > 0 ? recorded.entries() : []) {
		const { datasetId, documentId } = namesIn(entry);
		if (kindOf(entry) !== "outcome" || datasetId !== "" || state.isUntouched(entry.row)) continue;
		for (const dataset of datasets) written.add(entry.order, documentHash(dataset, documentId));
	}
	const orders = new Set([...written.orders, ...unchanged.orders]);
	const executions = [...orders].map((order) => ({
		order,
		written: written.sorted(order),
		unchanged: unchanged.sorted(order),
	}));
	return { run, baseUrl, executions };
}

/** Hashes of documents by the number of the execution that touched them. */
class HashLists {
	readonly #lists = new Map<number, number[]>();

	get orders(): readonly number[] {
		return [...this.#lists.keys()];
	}

	add(order: number, hash: number): void {
		const list = this.#lists.get(order);
		if (list === undefined) this.#lists.set(order, [hash]);
		else list.push(hash);
	}

	sorted(order: number): Float64Array {
		return sortedOnce(Float64Array.from(this.#lists.get(order) ?? []));
	}
}

/** The length of a run's journal, which only grows. */
function stampOf(folder: string): string {
	const path = join(folder, JOURNAL_FILE);
	return [path, packedPath(path)].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? "-").join(" ");
}
