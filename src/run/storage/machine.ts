import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { Owner, Process } from "./owner.ts";
import { readProcess } from "./owner.ts";

/** What only the process itself can tell: given, as nothing here touches `process`. */
export type Processes = {
	/** of this process */
	readonly pid: number;
	/** whether a process of that id runs; asked where the system has no `/proc` */
	readonly isRunning: (pid: number) => boolean;
};

/** This machine, as a lock's owner is judged by it. */
export type Machine = {
	readonly host: string;
	readonly boot: string | null;
	/** whether names of sockets without files are to be had */
	readonly linux: boolean;
	/** undefined where no process of that id runs */
	processOf(pid: number): Promise<Process | undefined>;
};

/** Reads what the system says of itself. */
export async function thisMachine({ isRunning }: Processes): Promise<Machine> {
	const boot = await textOf("/proc/sys/kernel/random/boot_id");
	return {
		host: hostname(),
		boot: boot?.trim() ?? null,
		linux: boot !== undefined,
		processOf: async (pid) => {
			if (boot === undefined) return isRunning(pid) ? { start: null } : undefined;
			const stat = await textOf(`/proc/${pid}/stat`);
			return stat === undefined ? undefined : readProcess(stat);
		},
	};
}

/** This process as the owner of a lock. */
export async function ownerOf(machine: Machine, pid: number, nonce: string): Promise<Owner> {
	const { host, boot } = machine;
	const start = (await machine.processOf(pid))?.start ?? null;
	return { pid, start, boot, host, nonce, since: new Date().toISOString() };
}

async function textOf(path: string): Promise<string | undefined> {
	try {
		return await readFile(path, "utf8");
	} catch {
		return undefined;
	}
}
