import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import * as v from "valibot";
import { jsonObjectOf } from "../../json/parse-json.ts";

/** The process that holds a lock, described so that another process can check whether it still runs. */
const OWNER = v.object({
	pid: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
	/** when the process began, in the system's own count; null where unknown. A later process with the same id differs */
	start: v.nullable(v.string()),
	/** the boot id of the machine: it differs after a restart; null where unknown */
	boot: v.nullable(v.string()),
	host: v.string(),
	/** random: it differs for two locks of the same process */
	nonce: v.string(),
	/** ISO time */
	since: v.string(),
});
export type LockOwner = Readonly<v.InferOutput<typeof OWNER>>;

/** A process that runs. `start` is null where the system does not give it. */
type RunningProcess = { readonly start: string | null };

/** The state of a lock's owner. */
export type OwnerState =
	/** it runs on this machine: its lock is never taken */
	| "running"
	/** it does not run any more */
	| "gone"
	/** it is of another machine, or of this one before a restart: whether it runs can't be known here */
	| "elsewhere";

/**
 * @param here this process
 * @param running the process that has the owner's id now, if there is one
 */
export function ownerStateOf(
	owner: LockOwner,
	here: Pick<LockOwner, "host" | "boot">,
	running: RunningProcess | undefined,
): OwnerState {
	if (owner.host !== here.host || owner.boot !== here.boot) return "elsewhere";
	if (running === undefined) return "gone";
	// Systems use process ids again, so only the start can differ. An unknown one counts as the same.
	const isSame = owner.start === null || running.start === null || owner.start === running.start;
	return isSame ? "running" : "gone";
}

export function ownerText(owner: LockOwner): string {
	return `${JSON.stringify(owner)}\n`;
}

/** @returns undefined where `ownerText` did not write the text, or not all of it yet */
export function readOwner(text: string): LockOwner | undefined {
	const { success, output } = v.safeParse(OWNER, jsonObjectOf(text));
	return success ? output : undefined;
}

/** Facts that only the process itself knows. They are passed in, as no file here touches `process`. */
export type Processes = {
	/** of this process */
	readonly pid: number;
	/** whether a process with that id runs; asked where the system has no `/proc` */
	readonly isRunning: (pid: number) => boolean;
};

/** This machine, for checking whether the owner of a lock runs on it. */
export type Machine = {
	readonly host: string;
	readonly boot: string | null;
	/** undefined where no process with that id runs */
	processOf(pid: number): RunningProcess | undefined;
};

export function thisMachine({ isRunning }: Processes): Machine {
	const boot = textOf("/proc/sys/kernel/random/boot_id");
	return {
		host: hostname(),
		boot: boot?.trim() ?? null,
		processOf: (pid) => {
			if (boot === undefined) return isRunning(pid) ? { start: null } : undefined;
			const stat = textOf(`/proc/${pid}/stat`);
			if (stat === undefined) return undefined;
			const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
			const field = (number: number): string | undefined => fields[number - STATE_FIELD];
			return ENDED.includes(field(STATE_FIELD)) ? undefined : { start: field(START_FIELD) ?? null };
		},
	};
}

/** This process as the owner of a lock. */
export function thisProcessAsOwner(machine: Machine, pid: number, nonce: string): LockOwner {
	const { host, boot } = machine;
	const start = machine.processOf(pid)?.start ?? null;
	return { pid, start, boot, host, nonce, since: new Date().toISOString() };
}

/** Numbers of fields in `/proc/PID/stat`, from 1 (proc(5)). The second field is the name, which may contain spaces and brackets. */
const STATE_FIELD = 3;
const START_FIELD = 22;

/** States of a process that has ended; `Z` is one whose parent has not read its exit code yet. */
const ENDED: readonly (string | undefined)[] = ["Z", "X", "x"];

/** A file of `/proc`, which is in memory: a thread for it would take ten times as long. */
function textOf(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}
