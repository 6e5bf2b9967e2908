import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { type Machine, type Processes, thisMachine } from "./machine.ts";

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
export async function makeOwnFolder(shared: string, processes: Processes, now: number): Promise<string> {
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
