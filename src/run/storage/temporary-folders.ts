import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { type Machine, type Processes, thisMachine } from "./process-owner.ts";
import { makeFolder, storageReason } from "./folders.ts";
import { type CurrentUser, secureStateFolder, securePrivateFolder } from "./private-folders.ts";

/** Name of a process's folder: its id, its start, its machine and chance. */
const form = /^of-(\d+)-(\d+|x)-([0-9a-f]{12})-[0-9a-f]{8}$/;

/** Milliseconds after which the folder goes of a process that can't be asked: of another machine, or before a restart. */
const FORGOTTEN = 7 * 24 * 60 * 60 * 1000;

/**
 * Makes a folder for what this process keeps aside, below one that all processes share. Its name says whose it is: what
 * a killed process left is removed by the next one, as it may be a copy of a manifest.
 *
 * @param now wall clock, in epoch milliseconds
 * @throws CliError exit 7 where it can't be made
 */
export async function makeProcessFolder(shared: string, processes: Processes, now: number): Promise<string> {
	const machine = await thisMachine(processes);
	const here = idOf(machine);
	const start = (await machine.processOf(processes.pid))?.start ?? "x";
	const own = join(shared, `of-${processes.pid}-${start}-${here}-${randomBytes(4).toString("hex")}`);
	try {
		for (const name of await readdir(shared)) {
			if (await isLeft(join(shared, name), name, machine, now)) {
				await rm(join(shared, name), { recursive: true, force: true });
			}
		}
		await mkdir(own, { mode: 0o700 });
		return own;
	} catch (error) {
		throw new CliError(`copies can't be kept in the temporary folder ${shared}: ${reason(error)}; nothing was sent`, {
			exit: Exit.storage,
			hint: "Make room there, or name another folder with --state-dir.",
			cause: error,
		});
	}
}

async function isLeft(path: string, name: string, machine: Machine, now: number): Promise<boolean> {
	const [, pid, start, where] = form.exec(name) ?? [];
	if (where === idOf(machine)) {
		const running = await machine.processOf(Number(pid));
		if (running === undefined) return true;
		// Ids are used again: only the start tells whether it is the same process.
		return start !== "x" && running.start !== null && running.start !== start;
	}
	try {
		return now - (await lstat(path)).mtimeMs > FORGOTTEN;
	} catch (error) {
		if (errorCode(error) === "ENOENT") return false;
		throw error;
	}
}

function idOf({ host, boot }: Machine): string {
	return createHash("sha256").update(`${host}\0${boot}`).digest("hex").slice(0, 12);
}

/** The folders in which this process keeps what must not outlive it, one below each state folder. */
export class TemporaryFolders {
	readonly #processes: Processes;
	readonly #keeper: CurrentUser;
	readonly #made = new Map<string, Promise<string>>();

	constructor(processes: Processes, keeper: CurrentUser) {
		this.#processes = processes;
		this.#keeper = keeper;
	}

	/**
	 * The folder below a state folder, made on first use.
	 *
	 * @param origin what named the state folder
	 * @throws CliError exit 2 or 7 where a folder that was asked for can't be made, or is not the user's own
	 */
	of(stateDir: string, origin: string): Promise<string> {
		const made = this.#made.get(stateDir) ?? this.#make(stateDir, origin);
		this.#made.set(stateDir, made);
		return made;
	}

	async #make(stateDir: string, origin: string): Promise<string> {
		const shared = join(stateDir, "tmp");
		// Nobody asked for the default: a job whose home can't be written has the system's folder.
		const isAsked = origin !== "default";
		try {
			await makeFolder(shared);
		} catch (error) {
			if (!isAsked) return tmpdir();
			throw new CliError(`${origin} ${stateDir}: ${storageReason(error, stateDir)}`, {
				exit: Exit.usage,
				cause: error,
			});
		}
		await secureStateFolder(stateDir, this.#keeper);
		await securePrivateFolder(shared, this.#keeper);
		try {
			return await makeProcessFolder(shared, this.#processes, Date.now());
		} catch (error) {
			if (!isAsked) return tmpdir();
			throw error;
		}
	}

	/** Removes them, with all that is in them. */
	async close(): Promise<void> {
		for (const made of this.#made.values()) {
			const folder = await made.catch(() => undefined);
			if (folder !== undefined && folder !== tmpdir()) await rm(folder, { recursive: true, force: true });
		}
		this.#made.clear();
	}
}

/**
 * Keeps something in the temporary folder.
 *
 * @param what is kept, as the subject of a sentence
 * @param result what came of the command, as the end of that sentence: `nothing was sent`
 * @throws CliError exit 7 where the storage refuses it, and whatever else the work throws as it is
 */
export async function withTemporaryStorage<Result>(
	what: string,
	work: () => Promise<Result>,
	result?: string,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		// What has words of its own keeps them; what the storage said has a code.
		if (error instanceof CliError || errorCode(error) === undefined) throw error;
		const end = result === undefined ? "" : `; ${result}`;
		throw new CliError(`${what} can't be kept in the temporary folder: ${reason(error)}${end}`, {
			exit: Exit.storage,
			hint: "Make room there, or name another folder with --state-dir.",
			cause: error,
		});
	}
}
