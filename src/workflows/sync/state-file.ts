import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import type { SyncTarget } from "../../plan/plan-file/planned.ts";
import {
	otherPlace,
	readState,
	STATE_FORMAT,
	stateText,
	type SyncPlace,
	type SyncState,
} from "../../plan/sync/state.ts";
import { show } from "../../text/show.ts";
import { writeWhole } from "../../write-whole.ts";

/** The state of a sync as its file has it. */
export type StateFile = {
	/** absolute */
	readonly path: string;
	/** undefined where there is none, or a damaged one */
	readonly state: SyncState | undefined;
	readonly isDamaged: boolean;
	/** SHA-256 of its text; empty where there is none */
	readonly sha256: string;
};

/** The path of a state: the one that was given, or its own in the folder of states. */
export function statePath(given: string | undefined, runsFolder: string, place: SyncPlace): string {
	if (given !== undefined) return resolve(given);
	const { baseUrl, datasetId, root } = place;
	const name = createHash("sha256").update(`${baseUrl}\0${datasetId}\0${root}`).digest("hex").slice(0, 32);
	return join(dirname(runsFolder), "sync", `${name}.jsonl`);
}

/** @throws CliError exit 7 where it can't be read, 8 where it is the state of another folder, dataset or service */
export async function readStateFile(path: string, place: SyncPlace): Promise<StateFile> {
	const text = await readFile(path, "utf8").catch((error: unknown) => {
		if (errorCode(error) === "ENOENT") return undefined;
		throw new CliError(`${show(path)}: ${reason(error)}; nothing was sent`, { exit: Exit.storage, cause: error });
	});
	if (text === undefined) return { path, state: undefined, isDamaged: false, sha256: "" };
	const sha256 = createHash("sha256").update(text).digest("hex");
	const format = Number(/^\{"ragtag_sync":(\d+)/.exec(text)?.[1] ?? 0);
	if (format > STATE_FORMAT) {
		throw new CliError(
			`the state ${show(path)} is of format ${format}, which this version does not know; nothing was sent`,
			{
				exit: Exit.foreign,
				hint: "Use the version of ragtag that wrote it, or name another file with --state.",
			},
		);
	}
	const state = readState(text);
	const other = state && otherPlace(state, place);
	if (other !== undefined) {
		throw new CliError(`the state ${show(path)} is ${other}; nothing was sent`, {
			exit: Exit.foreign,
			hint: "Name another file with --state, or leave --state out.",
		});
	}
	return { path, state, isDamaged: state === undefined, sha256 };
}

/** Writes a state whole: a reader sees the old one or the new one. @throws CliError exit 7 */
export async function writeState(path: string, state: SyncState): Promise<void> {
	try {
		await mkdir(dirname(path), { recursive: true, mode: 0o700 });
		await writeWhole(path, stateText(state));
	} catch (error) {
		throw new CliError(`the state ${show(path)} can't be written: ${reason(error)}`, {
			exit: Exit.storage,
			hint: "Free some space there. The record of the run has what was done: the same command goes on with it.",
			cause: error,
		});
	}
}

/** The state of a target that no file knows yet. */
export function emptyState(
	{ root, device, datasetId }: Pick<SyncTarget, "root" | "device" | "datasetId">,
	baseUrl: string,
): SyncState {
	return { baseUrl, datasetId, root, device, isTagged: false, entries: new Map() };
}
