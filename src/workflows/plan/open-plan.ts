import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason, usageError } from "../../errors.ts";
import { type InputFile, openInput } from "../../input-file.ts";
import { type CheckedPlan, PlanCheck, PlanFault } from "../../plan/plan-file/read.ts";
import type { PlannedChange } from "../../plan/plan-file/planned.ts";
import { idKey } from "../../text/names.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { MAX_LINE_BYTES } from "../../run/journal/encode.ts";
import { LineSplitter } from "../../run/journal/lines.ts";
import { type Shard, shardIndexOf } from "../../shard.ts";
import { withTemporaryStorage } from "../../run/storage/temporary-folders.ts";
import { show } from "../../text/show.ts";
import { UNDO_COMMAND } from "../../run/recorded/unfinished.ts";

/** The records of runs of a plan: one that the user named, and one that `values` made. */
export const APPLY = "docs apply";
export const VALUES = "values";

/** Whether a run of this command sends a plan of changes as it stands. */
export function sendsPlan(command: string): boolean {
	return command === APPLY || command === VALUES;
}

/** Whether the rows of a run are those of a plan. */
export function hasPlan({ command, options }: RunFile): boolean {
	return sendsPlan(command) || command === UNDO_COMMAND || typeof options["sync"] === "string";
}

/** A plan that was read to its end and has the hash that it was written with. */
export type OpenedPlan = CheckedPlan & {
	/** as the user named it */
	readonly name: string;
	/** of all its bytes, in hexadecimal */
	readonly sha256: string;
	readonly bytes: number;
	/** how many of its changes are in the shard; all of them without one */
	readonly own: number;
	/** the same by their datasets */
	readonly rowsByDataset: ReadonlyMap<string, number>;
	/** path of the private copy that was made while it was checked; the changes are read from it */
	readonly copy: string;
	/** its changes in order, from the copy */
	read(): AsyncGenerator<PlannedChange>;
	/** removes the copy */
	close(): Promise<void>;
};

type OpenPlanOptions = {
	readonly stdin: AsyncIterable<Uint8Array>;
	/** where the copy is kept */
	readonly temporaryFolder: string;
	/** actions that the plan may have */
	readonly actions: readonly PlannedChange["action"][];
	/** the part whose changes are counted; undefined for the whole */
	readonly shard?: Shard | undefined;
};

/** Whether a change is in a shard: as for a row of a manifest, its document decides. */
export function isOfShard({ documentId }: PlannedChange, shard: Shard | undefined): boolean {
	return shard === undefined || shardIndexOf(idKey(documentId), shard.count) === shard.index;
}

/**
 * Checks a whole plan, and copies it at the same time. Memory holds one line of it.
 *
 * @throws CliError exit 2 where it can't be read, 7 where it can't be copied, 8 where it was edited or cut, or is no plan
 */
export async function openPlan(name: string, options: OpenPlanOptions): Promise<OpenedPlan> {
	const { stdin, temporaryFolder, actions } = options;
	const bytesOf = name === "-" ? readable("standard input", stdin) : await readFile(name);
	const copy = join(temporaryFolder, `ragtag-plan-${randomBytes(8).toString("hex")}`);
	const close = (): Promise<void> => rm(copy, { force: true });
	try {
		const spool = await inTemporaryStorage(() => open(copy, "wx", 0o600));
		try {
			const checked = await check(name, bytesOf, spool, options);
			return { ...checked, name, copy, read: () => changesIn(name, copy, actions), close };
		} finally {
			await spool.close();
		}
	} catch (error) {
		await close();
		throw error;
	}
}

async function check(
	name: string,
	chunks: AsyncIterable<Uint8Array>,
	spool: FileHandle,
	{ actions, shard }: OpenPlanOptions,
): Promise<CheckedPlan & Pick<OpenedPlan, "sha256" | "bytes" | "own" | "rowsByDataset">> {
	const hash = createHash("sha256");
	let bytes = 0;
	const hashed = async function* (): AsyncGenerator<Uint8Array> {
		for await (const chunk of chunks) {
			hash.update(chunk);
			bytes += chunk.length;
			await inTemporaryStorage(() => spool.writeFile(chunk));
			yield chunk;
		}
	};
	const plan = new PlanCheck(actions);
	return withPlanErrors(name, async () => {
		let own = 0;
		const counted = new Map<string, number>();
		for await (const change of changes(hashed(), plan)) {
			if (!isOfShard(change, shard)) continue;
			own++;
			counted.set(change.datasetId, (counted.get(change.datasetId) ?? 0) + 1);
		}
		return { ...plan.end(), sha256: hash.digest("hex"), bytes, own, rowsByDataset: counted };
	});
}

/** The changes of the checked copy. If the copy is invalid now, the storage failed or another program changed it. */
async function* changesIn(
	name: string,
	copy: string,
	actions: OpenPlanOptions["actions"],
): AsyncGenerator<PlannedChange> {
	const plan = new PlanCheck(actions);
	const read = changes(readable(copy, createReadStream(copy)), plan);
	for (;;) {
		const next = await withPlanErrors(name, () => read.next());
		if (next.done === true) break;
		yield next.value;
	}
	await withPlanErrors(name, async () => plan.end());
}

async function* changes(chunks: AsyncIterable<Uint8Array>, plan: PlanCheck): AsyncGenerator<PlannedChange> {
	const splitter = new LineSplitter();
	const line = (bytes: Uint8Array | undefined, isEnded: boolean): PlannedChange | undefined => {
		if (bytes !== undefined) return plan.line(bytes, isEnded);
		throw new PlanFault(`has a line of more than ${MAX_LINE_BYTES} bytes`);
	};
	for await (const chunk of chunks) {
		for (const { bytes, isTerminated } of splitter.push(chunk)) {
			const change = line(bytes, isTerminated);
			if (change !== undefined) yield change;
		}
		if (splitter.isTooLong) line(undefined, false);
	}
	const rest = splitter.rest();
	if (rest !== undefined) line(rest.bytes, rest.isTerminated);
}

async function withPlanErrors<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof PlanFault)) throw error;
		const place = `${name === "-" ? "standard input" : show(name)}${error.line === undefined ? "" : `:${error.line}`}`;
		throw new CliError(`${place}: the plan ${error.message}; nothing was sent`, {
			exit: Exit.foreign,
			hint: "Make the plan again with ragtag docs plan, and send it unedited.",
			cause: error,
		});
	}
}

async function readFile(path: string): Promise<AsyncIterable<Uint8Array>> {
	try {
		return readable(path, closing(await openInput(path)));
	} catch (error) {
		throw unreadable(path, error);
	}
}

async function* closing(file: InputFile): AsyncGenerator<Uint8Array> {
	try {
		yield* file.bytes();
	} finally {
		await file.close();
	}
}

async function* readable(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	try {
		yield* chunks;
	} catch (error) {
		throw errorCode(error) === undefined ? error : unreadable(name, error);
	}
}

function unreadable(name: string, cause: unknown): CliError {
	const why = errorCode(cause) === "ENOENT" ? "does not exist" : `cannot be read: ${reason(cause)}`;
	return usageError(
		`${show(name)} ${why}; nothing was sent`,
		"Name the plan that ragtag docs plan has written.",
		cause,
	);
}

function inTemporaryStorage<Result>(work: () => Promise<Result>): Promise<Result> {
	return withTemporaryStorage("the plan", work, "nothing was sent");
}
