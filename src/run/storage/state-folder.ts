import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { makeFolder } from "./folders.ts";
import type { Processes } from "./machine.ts";
import { type Keeper, ownFolder } from "./own-folders.ts";
import { storageReason } from "./storage-faults.ts";
import { makeOwnFolder } from "./temporary.ts";

/** What lies in a state folder. One that has anything else in it is not ours to close to others. */
const OURS: readonly string[] = ["runs", "services", "tmp"];

/** Sees that nobody else can have written what is in a state folder. @throws CliError exit 2 */
export async function ownStateFolder(path: string, keeper: Keeper): Promise<void> {
	await ownFolder(path, keeper, (name) => OURS.includes(name));
}

/** The folders in which this process keeps what must not outlive it, one below each state folder. */
export class TemporaryFolders {
	readonly #processes: Processes;
	readonly #keeper: Keeper;
	readonly #made = new Map<string, Promise<string>>();

	constructor(processes: Processes, keeper: Keeper) {
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
		await ownStateFolder(stateDir, this.#keeper);
		await ownFolder(shared, this.#keeper);
		try {
			return await makeOwnFolder(shared, this.#processes, Date.now());
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
