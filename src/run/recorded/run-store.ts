import { existsSync, readdirSync } from "node:fs";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason, usageError } from "../../errors.ts";
import {
	type CurrentUser,
	securePrivateFolder,
	readPrivateFile,
	secureStateFolder,
} from "../storage/private-folders.ts";
import { syncFolder } from "../journal/files.ts";
import type { Processes } from "../storage/process-owner.ts";
import { type RecordedRun, readRun } from "../journal/reader.ts";
import { storageReason } from "../storage/folders.ts";
import { isAbsent, removeFile } from "../storage/quick-files.ts";
import { byAge, isRunId, readRunFile, type RunFile } from "./run-file.ts";

export const SUMMARY_FILE = "summary.json";

/** The folder of locks, next to the folders of runs. */
export const LOCKS = ".locks";

/** The beginning of the name that a run's folder gets while it is removed. */
const REMOVED_PREFIX = ".removed-";

/** The recorded runs of a state folder. Each has a folder of its own, `runs/RUN/`. */
export class RunStore {
	readonly folder: string;
	/** those that locks and the states of runs are about */
	readonly processes: Processes;
	/** runs whose `run.json` was read, and is damaged */
	readonly damaged = new Set<string>();
	readonly #stateDir: string;
	readonly #user: CurrentUser;
	#isChecked = false;

	constructor(stateDir: string, user: CurrentUser, processes: Processes) {
		this.folder = join(stateDir, "runs");
		this.#stateDir = stateDir;
		this.#user = user;
		this.processes = processes;
	}

	/** Ensures that no other user can have written records or locks. @throws CliError exit 2 */
	secure(): void {
		if (this.#isChecked) return;
		secureStateFolder(this.#stateDir, this.#user);
		for (const folder of [this.folder, this.path(LOCKS)]) securePrivateFolder(folder, this.#user);
		this.#isChecked = true;
	}

	/** Path of a file in a run's folder, or of the folder where no name is given. */
	path(run: string, ...name: readonly string[]): string {
		return join(this.folder, run, ...name);
	}

	/** The names of all run folders, the newest first, also of those without a record yet. Other folders are skipped. */
	async names(): Promise<string[]> {
		this.secure();
		try {
			return readdirSync(this.folder).filter(isRunId).toSorted().toReversed();
		} catch (error) {
			if (errorCode(error) === "ENOENT") return [];
			throw new CliError(`${this.folder}: ${reason(error)}`, { exit: Exit.storage, cause: error });
		}
	}

	/** All recorded runs, the newest first. */
	async files(): Promise<RunFile[]> {
		const files: RunFile[] = [];
		for (const name of await this.names()) {
			const file = await this.read(name);
			if (file !== undefined) files.push(file);
		}
		return files.toSorted((one, other) => byAge(other, one));
	}

	/** The task of a run; undefined for a run that was killed before it recorded that. */
	async read(run: string): Promise<RunFile | undefined> {
		const text = await this.readFile(run, "run.json");
		if (text === undefined) return undefined;
		const file = readRunFile(text);
		if (file === undefined) this.damaged.add(run);
		// A copy of a run's folder under another name is not a second run.
		return file?.run === run ? file : undefined;
	}

	/** A run as its journal has it. @throws JournalUnreadable, JournalLost as `readRun` */
	journal(run: string): Promise<RecordedRun | undefined> {
		return readRun(this.path(run));
	}

	/** A small file in a run's folder; undefined where there is none. @throws CliError exit 2 or 7 */
	async readFile(run: string, name: string): Promise<string | undefined> {
		this.secure();
		const path = this.path(run, name);
		try {
			securePrivateFolder(this.path(run), this.#user);
			return readPrivateFile(path, this.#user);
		} catch (error) {
			if (error instanceof CliError) throw error;
			if (isAbsent(error)) return undefined;
			throw new CliError(`${path}: ${reason(error)}`, { exit: Exit.storage, cause: error });
		}
	}

	/** The run of that name. @throws CliError exit 2 where there is none, 7 where it is damaged */
	async find(name: string): Promise<RunFile> {
		const file = isRunId(name) ? await this.read(name) : undefined;
		if (file !== undefined) return file;
		if (this.damaged.has(name)) {
			throw new CliError(`run ${name} can't be read: ${this.path(name, "run.json")} is damaged`, {
				exit: Exit.storage,
				hint: `Restore that file. ragtag runs prune ${name} --all removes the record.`,
			});
		}
		throw usageError(`there is no recorded run ${JSON.stringify(name)}`, "ragtag runs list shows all runs.");
	}

	/** Whether the last execution of a run ended by itself: the summary is the last file that it writes. */
	hasSummary(run: string): boolean {
		return existsSync(this.path(run, SUMMARY_FILE));
	}

	/** Removes the summary of the last execution, durably. A run has none while an execution goes on. */
	async forgetSummary(run: string): Promise<void> {
		removeFile(this.path(run, SUMMARY_FILE));
		await syncFolder(this.path(run));
	}

	/** Bytes of the files in a run's folder. */
	async sizeOf(run: string): Promise<number> {
		const names = await readdir(this.path(run));
		const sizes = await Promise.all(names.map(async (name) => (await lstat(this.path(run, name))).size));
		return sizes.reduce((sum, size) => sum + size, 0);
	}

	/** Removes a run's folder. It is renamed first, so that a removal that is killed leaves no damaged run. */
	async remove(run: string): Promise<void> {
		const renamed = this.path(`${REMOVED_PREFIX}${run}`);
		await rename(this.path(run), renamed);
		await rm(renamed, { recursive: true, force: true });
	}

	/** Completes removals that were killed. */
	async sweep(): Promise<void> {
		const names = await readdir(this.folder).catch(() => []);
		for (const name of names.filter((each) => each.startsWith(REMOVED_PREFIX))) {
			await rm(join(this.folder, name), { recursive: true, force: true });
		}
	}
}

export function noRun(): CliError {
	return usageError("no run is recorded yet", "docs tag, docs apply, docs upload and docs rm record their runs.");
}

/** The error of a storage that can't record runs. An error with a message of its own is returned as it is. */
export function cannotRecord(path: string, error: unknown): CliError {
	if (error instanceof CliError) return error;
	return new CliError(`runs can't be recorded in ${path}: ${storageReason(error, path)}; nothing was sent`, {
		exit: Exit.storage,
		hint: "Make it writable or free some space there, or name another folder with --state-dir DIR; ragtag doctor checks it.",
		cause: error,
	});
}
