import { newestOrder, type RunFile } from "../recorded/run-file.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isComplete } from "../recorded/run-summary.ts";
import { undoneRunOf } from "../recorded/superseded.ts";
import { type RunTouches, touchesOfRemovedRuns, touchesOfRun } from "./run-touches.ts";
import { documentHash, joinTouches, newestTouch, type Touches, touchesOf, without } from "./touches.ts";

/** The run that has touched a document since. */
export type NewerRun = Pick<RunTouches, "run" | "baseUrl"> & {
	/** whether it wrote the document; otherwise it found it unchanged */
	readonly isWrite: boolean;
};

/** The documents that other runs have touched since a run did, or since it began. */
export class NewerRuns {
	readonly #written: Touches;
	readonly #unchanged: Touches;
	readonly #own: Touches;
	readonly #began: number;
	readonly #byOrder: ReadonlyMap<number, RunTouches>;

	/**
	 * @param own what the run itself has touched
	 * @param others what other runs have touched since it began
	 */
	constructor(own: readonly RunTouches[], others: readonly RunTouches[], began: number) {
		const since = others.flatMap(({ executions }) => executions.filter(({ order }) => order > began));
		this.#written = joinTouches(since.map(({ order, written }) => touchesOf(written, order)));
		this.#unchanged = joinTouches(since.map(({ order, unchanged }) => touchesOf(unchanged, order)));
		this.#own = joinTouches(
			own.flatMap(({ executions }) => executions.map((one) => touchesOf(one.written, one.order))),
		);
		this.#began = began;
		this.#byOrder = new Map(others.flatMap((run) => run.executions.map(({ order }) => [order, run] as const)));
	}

	/** Whether no other run has touched any document since. */
	get isEmpty(): boolean {
		return this.#written.documents.length + this.#unchanged.documents.length === 0;
	}

	/** The run that has written a document since this run did; undefined if none has. */
	writer(datasetId: string, documentId: string): NewerRun | undefined {
		const document = documentHash(datasetId, documentId);
		return this.#newerIn(this.#written, document, true);
	}

	/** The run that has written a document, or found it unchanged, since this run wrote it. */
	toucher(datasetId: string, documentId: string): NewerRun | undefined {
		const document = documentHash(datasetId, documentId);
		return this.#newerIn(this.#written, document, true) ?? this.#newerIn(this.#unchanged, document, false);
	}

	/** How many documents that this run has written were written again since, by the run that did so. */
	writtenAgain(): ReadonlyMap<string, number> {
		const counts = new Map<string, number>();
		for (const document of this.#own.documents) {
			const by = this.#newerIn(this.#written, document, true);
			if (by !== undefined) counts.set(by.run, (counts.get(by.run) ?? 0) + 1);
		}
		return counts;
	}

	#newerIn(touches: Touches, document: number, isWrite: boolean): NewerRun | undefined {
		const order = newestTouch(touches, document);
		if (order === undefined || order <= (newestTouch(this.#own, document) ?? this.#began)) return undefined;
		const found = this.#byOrder.get(order);
		return found === undefined ? undefined : { run: found.run, baseUrl: found.baseUrl, isWrite };
	}
}

/**
 * What other runs have touched since a run. It is the one rule by which a run is newer than another for a document: an
 * execution with a higher number has touched it. Neither command, manifest, address nor clock count.
 *
 * - A merged run stands for its shards. An undo, and what it takes back, are one: neither is a newer run for the other.
 * - A run and its complete undo cancel each other out, for an undo: its document is then as it was before both.
 *
 * @param file the run that goes on, is taken back, or is verified
 * @param all every recorded run, the newest first
 * @param isUndo whether the run is taken back
 * @throws JournalUnreadable, JournalLost where a newer run can't be read
 */
export async function newerRuns(
	runs: RunStore,
	file: RunFile,
	all: readonly RunFile[],
	isUndo = undoneRunOf(file) !== undefined,
): Promise<NewerRuns> {
	const own = ownRuns(file, all, isUndo);
	const ownFiles = all.filter(({ run }) => own.has(run));
	const began = Math.min(...ownFiles.map(({ order = 0 }) => order));
	const newer = all.filter((other) => !own.has(other.run) && newestOrder(other) > began);
	const removed = touchesOfRemovedRuns(runs, new Set(all.map(({ run }) => run)));
	const others = await Promise.all(newer.map((other) => touchesOfRun(runs, other)));
	const known = [...others, ...removed.filter(({ run }) => !own.has(run))];
	const isAny = known.some(({ executions }) => executions.some(({ order }) => order > began));
	// Nearly always no other run has written since: then a journal with a million rows is not read.
	if (!isAny) return new NewerRuns([], [], began);
	const touched = await Promise.all(ownFiles.map((one) => touchesOfRun(runs, one)));
	return new NewerRuns(touched, isUndo ? withoutUndone(runs, known, newer) : known, began);
}

/** The runs that are one with a run: its shards, or the run that they were merged into. For an undo also what it takes back, and other undos of that. */
function ownRuns(file: RunFile, all: readonly RunFile[], isUndo: boolean): ReadonlySet<string> {
	const base = undoneRunOf(file) ?? file.run;
	const own = new Set([file.run, base]);
	for (const { run, mergedFrom = [] } of all) {
		if (run === base) for (const shard of mergedFrom) own.add(shard);
		if (mergedFrom.includes(base)) own.add(run);
	}
	if (!isUndo) return own;
	// The oldest first: an undo may be undone in turn.
	for (const other of all.toReversed()) if (own.has(undoneRunOf(other) ?? "")) own.add(other.run);
	return own;
}

/** The same touches without those that an undo has taken back, and without those of that undo. */
function withoutUndone(runs: RunStore, touches: readonly RunTouches[], files: readonly RunFile[]): RunTouches[] {
	const left = new Map(touches.map((one) => [one.run, one]));
	// The newest first: the undo of an undo leaves the first run as it was.
	for (const undo of files) {
		const undone = undoneRunOf(undo);
		const restored = left.get(undo.run);
		const taken = undone === undefined ? undefined : left.get(undone);
		if (restored === undefined || taken === undefined || !isComplete(runs, undo.run)) continue;
		for (const { written: documents } of restored.executions) {
			for (const run of [taken.run, undo.run]) {
				const one = left.get(run) ?? restored;
				const executions = one.executions.map((execution) => ({
					...execution,
					written: without(execution.written, documents),
				}));
				left.set(run, { ...one, executions });
			}
		}
	}
	return [...left.values()];
}
