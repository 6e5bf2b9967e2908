import { hostname } from "node:os";
import * as v from "valibot";
import { quietly } from "../../errors.ts";
import { parseAs } from "../../json/parse-as.ts";
import { readTextIfThere } from "./quick-files.ts";

/** The process that holds a lock, described so that another process can check whether it still runs. */
const OWNER = v.object({
	pid: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
	/** when the process began, in the system's own count; null where unknown. A later process with the same id differs */
	start: v.nullable(v.string()),
	/** the boot id of the machine: it differs after a restart; null where unknown */
	boot: v.nullable(v.string()),
	host: v.string(),
	/** ISO time */
	since: v.string(),
});
export type LockOwner = Readonly<v.InferOutput<typeof OWNER>>;

/** The state of a lock's owner. */
export type OwnerState =
	/** it runs on this machine: its lock is never taken */
	| "running"
	/** it does not run any more */
	| "gone"
	/** it is of another machine, or of this one before a restart: whether it runs can't be known here */
	| "elsewhere";

export function ownerStateOf(owner: LockOwner, here: Processes): OwnerState {
	if (owner.host !== here.host || owner.boot !== here.boot) return "elsewhere";
	const start = here.startOf(owner.pid);
	if (start === undefined) return "gone";
	// Systems use process ids again, so only the start can differ. An unknown one counts as the same.
	return owner.start === null || start === null || owner.start === start ? "running" : "gone";
}

/** Version 0.2.0 takes over a lock whose text has no `nonce`, although its owner runs. No newer one reads that. */
export function ownerText(owner: LockOwner): string {
	return `${JSON.stringify({ ...owner, nonce: "" })}\n`;
}

/** @returns undefined where `ownerText` did not write the text, or not all of it yet */
export function readOwner(text: string): LockOwner | undefined {
	return parseAs(OWNER, text);
}

/** The processes of this machine. */
export type Processes = {
	/** of this process */
	readonly pid: number;
	readonly host: string;
	/** the boot id; null where unknown */
	readonly boot: string | null;
	/** when the process of that id began; null where the system does not give it, undefined where no such process runs */
	readonly startOf: (pid: number) => string | null | undefined;
};

/** Facts that only the process itself knows. They are passed in, as no file here touches `process`. */
export type OwnProcess = {
	readonly pid: number;
	/** whether a process with that id runs; asked where the system has no `/proc` */
	readonly isRunning: (pid: number) => boolean;
};

export function processesHere({ pid, isRunning }: OwnProcess): Processes {
	const boot = quietly(() => readTextIfThere("/proc/sys/kernel/random/boot_id"));
	return {
		pid,
		host: hostname(),
		boot: boot?.trim() ?? null,
		startOf: (other) => {
			if (boot === undefined) return isRunning(other) ? null : undefined;
			const stat = quietly(() => readTextIfThere(`/proc/${other}/stat`));
			if (stat === undefined) return undefined;
			const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
			const field = (number: number): string | undefined => fields[number - STATE_FIELD];
			return ENDED.includes(field(STATE_FIELD)) ? undefined : (field(START_FIELD) ?? null);
		},
	};
}

/** This process as the owner of a lock. */
export function thisProcessAsOwner({ pid, host, boot, startOf }: Processes): LockOwner {
	return { pid, start: startOf(pid) ?? null, boot, host, since: new Date().toISOString() };
}

/** Numbers of fields in `/proc/PID/stat`, from 1 (proc(5)). The second field is the name, which may contain spaces and brackets. */
const STATE_FIELD = 3;
const START_FIELD = 22;

/** States of a process that has ended; `Z` is one whose parent has not read its exit code yet. */
const ENDED: readonly (string | undefined)[] = ["Z", "X", "x"];
