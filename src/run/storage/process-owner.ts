import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { isJsonObject, type JsonValue, parseJson } from "../../json/values.ts";

/** The process that holds a lock, so that another can tell whether it still runs. */
export type Owner = {
	readonly pid: number;
	/** when the process began, as the system counts; a later process of the same id differs. Null where unknown */
	readonly start: string | null;
	/** tells one start of the machine from another. Null where unknown */
	readonly boot: string | null;
	readonly host: string;
	/** random: tells two locks of one process from each other */
	readonly nonce: string;
	/** ISO time */
	readonly since: string;
};

/** What is known of a process: `start` is null where the system does not tell it. */
export type Process = { readonly start: string | null };

/** What a lock's owner means for who wants it. */
export type Verdict =
	/** it runs on this machine: never taken from it */
	| "running"
	/** it does not run any more */
	| "gone"
	/** another machine, or this one before it started anew: nobody here can know */
	| "elsewhere";

/**
 * @param here this process
 * @param running the process that has the owner's id now, if there is one
 */
export function judge(owner: Owner, here: Pick<Owner, "host" | "boot">, running: Process | undefined): Verdict {
	if (owner.host !== here.host || owner.boot !== here.boot) return "elsewhere";
	if (running === undefined) return "gone";
	// Ids are used again: only the start tells whether it is the same process.
	return owner.start !== null && running.start !== null && owner.start !== running.start ? "gone" : "running";
}

export function ownerText(owner: Owner): string {
	return `${JSON.stringify(owner)}\n`;
}

/** @returns undefined where the text is not what `ownerText` writes, as of a file that is not written yet */
export function readOwner(text: string): Owner | undefined {
	let value: JsonValue;
	try {
		value = parseJson(text);
	} catch {
		return undefined;
	}
	if (!isJsonObject(value)) return undefined;
	const { pid, start, boot, host, nonce, since } = value;
	if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1) return undefined;
	if (typeof host !== "string" || typeof nonce !== "string" || typeof since !== "string") return undefined;
	if (!isTextOrNull(start) || !isTextOrNull(boot)) return undefined;
	return { pid, start, boot, host, nonce, since };
}

/** Fields of `/proc/PID/stat`, from 1, of which the second is the name and may have spaces and brackets in it. */
const STATE = 3;
const START = 22;

/** A process that ended, and whose end nobody has asked for yet. */
const ENDED: readonly (string | undefined)[] = ["Z", "X", "x"];

/** A process from its line in `/proc/PID/stat`; undefined for one that has ended. */
export function readProcess(stat: string): Process | undefined {
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const field = (place: number): string | undefined => fields[place - STATE];
	return ENDED.includes(field(STATE)) ? undefined : { start: field(START) ?? null };
}

function isTextOrNull(value: JsonValue | undefined): value is string | null {
	return value === null || typeof value === "string";
}

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
