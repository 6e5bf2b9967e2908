import { readRun } from "../journal/reader.ts";
import { newestOrder, type RunFile } from "../recorded/run-file.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { shardIn, shardIndexOf } from "../../shard.ts";
import { idKey } from "../../text/names.ts";
import {
	documentHash,
	type RunInOrder,
	type RunTouches,
	touchesOfRemovedRuns,
	touchesOfRun,
	undoneBy,
} from "./touches.ts";
import { undoneRunOf } from "../recorded/unfinished.ts";

/** The run that has touched a document since. */
export type NewerRun = Pick<RunTouches, "run" | "baseUrl"> & {
	/** whether it wrote the document; otherwise it found it unchanged */
	readonly isWrite: boolean;
};

/** The documents that other runs have touched since a run did, or since it began. */
export class NewerRuns {
	/** number of the first execution of the run */
	readonly began: number;
	readonly #beganFor: (documentId: string) => number;
	/** for each document, by its hash, the newest execution of another run that has touched it */
	readonly #written = new Map<number, number>();
	readonly #unchanged = new Map<number, number>();
	/** documents that the run has written, and another run since */
	readonly #again = new Set<number>();
	readonly #byOrder = new Map<number, Pick<RunTouches, "run" | "baseUrl">>();

	/** @param beganFor the same of the part of the run that has a document, where it was merged of shards */
	constructor(began: number, beganFor: (documentId: string) => number = () => began) {
		this.began = began;
		this.#beganFor = beganFor;
	}

	/** Adds what another run has touched. @param undone documents that an undo has given back as they were before it */
	addOther({ run, baseUrl, executions }: RunTouches, undone: ReadonlySet<number>): void {
		for (const { order, written, unchanged } of executions) {
			if (order <= this.began) continue;
			this.#byOrder.set(order, { run, baseUrl });
			for (const one of written) if (!undone.has(one)) addNewest(this.#written, one, order);
			for (const one of unchanged) addNewest(this.#unchanged, one, order);
		}
	}

	/** Adds what the run itself has written, after all other runs: what is older than that does not count. */
	addOwn({ executions }: RunTouches): void {
		for (const { order, written } of executions) {
			for (const one of written) {
				if ((this.#unchanged.get(one) ?? order) <= order) this.#unchanged.delete(one);
				if ((this.#written.get(one) ?? order) > order) this.#again.add(one);
				else {
					this.#written.delete(one);
					this.#again.delete(one);
				}
			}
		}
	}

	/** Whether no other run has touched any document since. */
	get isEmpty(): boolean {
		return this.#written.size === 0 && this.#unchanged.size === 0;
	}

	/** The run that has written a document since this run did; undefined if none has. */
	writer(datasetId: string, documentId: string): NewerRun | undefined {
		return this.#newer(documentHash(datasetId, documentId), true, this.#beganFor(documentId));
	}

	/** The run that has written a document, or found it unchanged, since this run wrote it. */
	toucher(datasetId: string, documentId: string): NewerRun | undefined {
		const document = documentHash(datasetId, documentId);
		const began = this.#beganFor(documentId);
		return this.#newer(document, true, began) ?? this.#newer(document, false, began);
	}

	/** How many documents that this run has written were written again since, by the run that did so. */
	writtenAgain(): ReadonlyMap<string, number> {
		const counts = new Map<string, number>();
		for (const document of this.#again) {
			const by = this.#newer(document, true, this.began);
			if (by !== undefined) counts.set(by.run, (counts.get(by.run) ?? 0) + 1);
		}
		return counts;
	}

	#newer(document: number, isWrite: boolean, began: number): NewerRun | undefined {
		const order = (isWrite ? this.#written : this.#unchanged).get(document);
		const found = order === undefined || order <= began ? undefined : this.#byOrder.get(order);
		return found === undefined ? undefined : { ...found, isWrite };
	}
}

function addNewest(orders: Map<number, number>, document: number, order: number): void {
	if (order > (orders.get(document) ?? 0)) orders.set(document, order);
}

/**
 * What other runs have touched since a run. It is the one rule by which a run is newer than another for a document: an
 * execution with a higher number has touched it. Neither manifest, address nor clock count, and of commands only whether they
 * change documents.
 *
 * - A merged run stands for its shards. An undo, and what it takes back, are one: neither is a newer run for the other.
 * - A run and its complete undo cancel each other out, for an undo: its document is then as it was before both.
 *
 * The lists of runs are read one after another: memory holds each document once, however many runs have touched it.
 *
 * @param file the run that goes on, is taken back, or is verified
 * @param all every recorded run, the newest first
 * @param isUndo whether the run is taken back
 * @throws JournalUnreadable, JournalLost, CliError 7 where what a newer run has touched can't be read
 */
export async function newerRuns(
	runs: RunStore,
	file: RunFile,
	all: readonly RunFile[],
	isUndo = undoneRunOf(file) !== undefined,
): Promise<NewerRuns> {
	const recorded = await everyRun(runs, all);
	const removed = touchesOfRemovedRuns(runs, new Set(recorded.map(({ run }) => run)));
	const others = [
		...recorded.map((one): Other => ({
			...one,
			undoes: undoneBy(runs, one),
			read: () => touchesOfRun(runs, one),
		})),
		...removed.map((touches): Other => ({ ...touches, order: Number.POSITIVE_INFINITY, read: async () => touches })),
	];
	const undos = isUndo ? others.filter(({ undoes }) => undoes !== undefined) : [];
	const own = ownRuns(file, all, undos);
	const ownFiles = all.filter(({ run }) => own.has(run));
	const began = Math.min(...ownFiles.map(({ order }) => order));
	const newer = new NewerRuns(began, beganFor(began, ownFiles));
	for (const other of others) {
		// A complete undo has given back all that it wrote.
		const isTakenBack = isUndo && other.undoes?.isComplete === true;
		if (own.has(other.run) || isTakenBack || newestOrder(other) <= began || !overtakes(other, file)) continue;
		newer.addOther(await other.read(), await undoneOf(other.run, undos));
	}
	// Nearly always no other run has written since: then a journal with a million rows is not read.
	if (!newer.isEmpty) for (const one of ownFiles) newer.addOwn(await touchesOfRun(runs, one));
	return newer;
}

/**
 * When a run began, for each document. A row of a later shard was not overtaken by a run that wrote before that shard began.
 * Where a shard is of another machine, the first of the others counts.
 */
function beganFor(began: number, own: readonly RunFile[]): (documentId: string) => number {
	const shards = own.flatMap(({ order, options }) => {
		const shard = shardIn(options);
		return shard === undefined ? [] : [{ ...shard, order }];
	});
	const [first] = shards;
	if (first === undefined) return () => began;
	const orders = new Map(shards.map(({ index, order }) => [index, order]));
	return (documentId) => orders.get(shardIndexOf(idKey(documentId), first.count)) ?? began;
}

/** Commands that change nothing of what a document is: their runs are newer runs for those of the same command alone. */
const CHANGE_NOTHING: ReadonlySet<string> = new Set(["docs parse", "docs download"]);

function overtakes({ command = "" }: Other, file: RunFile): boolean {
	return command === file.command || !CHANGE_NOTHING.has(command);
}

/** Another run, with what it has touched. */
type Other = Pick<RunInOrder, "run" | "order" | "lastOrder" | "command"> &
	Pick<RunTouches, "undoes"> & { readonly read: () => Promise<RunTouches> };

/**
 * These runs, and those whose `run.json` is lost or damaged, as the headers of their journals name them: what they wrote
 * still counts.
 *
 * @param files the runs that have that file
 * @throws JournalUnreadable, JournalLost as `readRun`
 */
async function everyRun(runs: RunStore, files: readonly RunFile[]): Promise<RunInOrder[]> {
	const known = new Set(files.map(({ run }) => run));
	const every: RunInOrder[] = [...files];
	for (const run of await runs.names()) {
		const file = known.has(run) ? undefined : await runWithoutFile(runs, run, known);
		if (file !== undefined) every.push(file);
	}
	return every;
}

/** @param known runs that have that file: the copy of another run's folder is not a second run */
export async function runWithoutFile(
	runs: RunStore,
	run: string,
	known: ReadonlySet<string>,
): Promise<RunInOrder | undefined> {
	const header = (await readRun(runs.path(run)))?.header;
	if (header === undefined || known.has(header.run)) return undefined;
	// The number of its newest execution is not known.
	const lastOrder = Number.POSITIVE_INFINITY;
	return { run, baseUrl: header.target.baseUrl, lastOrder, order: header.order ?? 0 };
}

/** The runs that are one with a run: its shards, or the run that they were merged into. For an undo also what it takes back, and other undos of that. */
function ownRuns(file: RunFile, all: readonly RunFile[], undos: readonly Other[]): ReadonlySet<string> {
	const base = undoneRunOf(file) ?? file.run;
	const own = new Set([file.run, base]);
	for (const { run, mergedFrom = [] } of all) {
		if (run === base) for (const shard of mergedFrom) own.add(shard);
		if (mergedFrom.includes(base)) own.add(run);
	}
	// An undo may be undone in turn.
	for (let known = 0; known < own.size;) {
		known = own.size;
		for (const { run, undoes } of undos) if (undoes !== undefined && own.has(undoes.run)) own.add(run);
	}
	return own;
}

/** The documents that complete undos of a run have given back, and that no undo of these has changed again. */
async function undoneOf(run: string, undos: readonly Other[]): Promise<ReadonlySet<number>> {
	const given = new Set<number>();
	for (const undo of undos) {
		if (undo.undoes?.run !== run || !undo.undoes.isComplete) continue;
		const again = await undoneOf(undo.run, undos);
		for (const { written } of (await undo.read()).executions) {
			for (const one of written) if (!again.has(one)) given.add(one);
		}
	}
	return given;
}
