import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, Exit, reason } from "../../errors.ts";
import {
	otherPlace,
	readState,
	STATE_FORMAT,
	stateText,
	type SyncPlace,
	type SyncState,
} from "../../plan/sync/state.ts";
import { makeFolder } from "../../run/storage/folders.ts";
import { isAbsent } from "../../run/storage/quick-files.ts";
import { show } from "../../text/show.ts";
import { writeWhole } from "../../write-whole.ts";

/** The state of a sync as its file has it. */
export type StateFile = {
	/** absolute */
	readonly path: string;
	/** without entries unless the file was read */
	readonly state: SyncState;
	readonly is: "read" | "absent" | "damaged";
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

const BEGINNING = '{"ragtag_sync":';

/**
 * @param place also the device of the folder, for a state that no file has yet
 * @throws CliError exit 7 where it can't be read, 8 where it is the state of another folder, dataset or service, or no state:
 * a damaged one may be written anew, and that would destroy any other file
 */
export async function readStateFile(
	path: string,
	{ baseUrl, datasetId, root, device }: SyncPlace & { readonly device: number },
): Promise<StateFile> {
	const empty: SyncState = { baseUrl, datasetId, root, device, isTagged: false, entries: new Map() };
	const text = await textIfThere(path);
	if (text !== undefined && !text.startsWith(BEGINNING) && !BEGINNING.startsWith(text)) throw noState(path);
	if (text === undefined) return { path, state: empty, is: "absent", sha256: "" };
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
	const other = state && otherPlace(state, empty);
	if (other !== undefined) {
		throw new CliError(`the state ${show(path)} is ${other}; nothing was sent`, {
			exit: Exit.foreign,
			hint: "Name another file with --state, or leave --state out.",
		});
	}
	return state === undefined ? { path, state: empty, is: "damaged", sha256 } : { path, state, is: "read", sha256 };
}

/** @throws CliError also for a folder, a pipe or a device, which would never end or be replaced */
async function textIfThere(path: string): Promise<string | undefined> {
	try {
		if (!(await stat(path)).isFile()) throw noState(path);
		return await readFile(path, "utf8");
	} catch (error) {
		if (isAbsent(error)) return undefined;
		if (error instanceof CliError) throw error;
		throw new CliError(`${show(path)}: ${reason(error)}; nothing was sent`, { exit: Exit.storage, cause: error });
	}
}

function noState(path: string): CliError {
	return new CliError(`${show(path)} is no state of a sync; nothing was sent`, {
		exit: Exit.foreign,
		hint: "--state names a file of its own, which the first sync makes.",
	});
}

/** Makes the folder of a state before anything is sent. @throws CliError exit 7 where no file can be written there */
export async function prepareState(path: string): Promise<void> {
	try {
		makeFolder(dirname(path));
		await access(dirname(path), constants.W_OK | constants.X_OK);
	} catch (error) {
		throw unwritable(path, error, "; nothing was sent", "Name another file with --state.");
	}
}

/** Writes a state whole: a reader sees the old one or the new one. @throws CliError exit 7 */
export async function writeState(path: string, state: SyncState): Promise<void> {
	try {
		await writeWhole(path, stateText(state));
	} catch (error) {
		const next =
			"Free some space there. The record of the run has what was done: the same command takes it over first.";
		throw unwritable(path, error, "", next);
	}
}

function unwritable(path: string, cause: unknown, what: string, hint: string): CliError {
	const text = `the state ${show(path)} can't be written: ${reason(cause)}${what}`;
	return new CliError(text, { exit: Exit.storage, hint, cause });
}
