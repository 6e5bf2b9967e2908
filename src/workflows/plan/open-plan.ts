import { CliError, Exit } from "../../errors.ts";
import { openSource } from "../../manifest/bytes/source.ts";
import { type PlanCheck, planCheck, PlanFault } from "../../plan/plan-file/read.ts";
import type { PlannedChange } from "../../plan/plan-file/lines.ts";
import { idKey } from "../../text/names.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { MAX_LINE_BYTES } from "../../run/journal/record-line.ts";
import { LineSplitter } from "../../run/journal/lines.ts";
import { type Shard, shardIndexOf } from "../../shard.ts";
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
export type OpenedPlan = Awaited<ReturnType<typeof openPlan>>;

export type OpenPlanOptions = {
	readonly stdin: AsyncIterable<Uint8Array>;
	/** where a copy of standard input is kept */
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
 * Checks a whole plan. Memory holds one line of it.
 *
 * @throws CliError exit 2 where it can't be read, 7 where it can't be kept, 8 where it was edited or cut, or is no plan
 */
export async function openPlan(name: string, options: OpenPlanOptions) {
	const { stdin, temporaryFolder, actions, shard } = options;
	const source = await openSource(name, stdin, { temporaryFolder, what: "plan" });
	try {
		const plan = planCheck(actions);
		/** changes of the shard, all of them without one; and their number in each dataset */
		let own = 0;
		const rowsByDataset = new Map<string, number>();
		for await (const change of changes(name, source.first(), plan)) {
			if (!isOfShard(change, shard)) continue;
			own += 1;
			rowsByDataset.set(change.datasetId, (rowsByDataset.get(change.datasetId) ?? 0) + 1);
		}
		const { spooled = name, ...content } = source.content();
		return {
			...plan.end(),
			...content,
			name,
			own,
			rowsByDataset,
			/** path of the file that a recorded run copies: the plan, or the private copy of one that can be read once alone */
			copy: spooled,
			/** Its changes in order. @throws CliError exit 8 where the file was changed after the check */
			read: () => changes(name, source.second(), planCheck(actions)),
			close: () => source.close(),
		};
	} catch (error) {
		await source.close();
		throw error;
	}
}

/** The changes of a plan, which is checked to its end. */
async function* changes(name: string, blocks: AsyncIterable<Buffer>, plan: PlanCheck): AsyncGenerator<PlannedChange> {
	const splitter = new LineSplitter();
	const line = (bytes: Uint8Array | undefined, isEnded: boolean): PlannedChange | undefined => {
		if (bytes !== undefined) return plan.line(bytes, isEnded);
		throw new PlanFault(`has a line of more than ${MAX_LINE_BYTES} bytes`);
	};
	try {
		for await (const block of blocks) {
			// The memory of a block is used again for the next one.
			for (const { bytes } of splitter.push(Buffer.from(block))) {
				const change = line(bytes, true);
				if (change !== undefined) yield change;
			}
			if (splitter.isTooLong) line(undefined, false);
		}
		if (splitter.hasRest) line(splitter.rest(), false);
		plan.end();
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
