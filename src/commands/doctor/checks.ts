import type { App, Session, Settings } from "../../app.ts";
import { CliError } from "../../errors.ts";
import type { Given, ServiceFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { Check } from "../../report/checks.ts";
import type { Preflight, SafeRoute } from "../../rest/preflight.ts";
import type { Dataset } from "../../rest/types.ts";
import type { Recognition } from "../../run/service/service-memory.ts";

export type DoctorFlags = ServiceFlags & Given<{ dataset: string; json: boolean }>;

/** What checks work with, and what each finds for the later ones and for the last line. */
export type Doctor = {
	readonly app: App;
	readonly settings: Settings;
	readonly flags: DoctorFlags;
	/** used only for masking */
	key?: string;
	reach?: Preflight;
	route?: SafeRoute;
	session?: Session;
	recognition?: Recognition;
	dataset?: Chosen | undefined;
	/** median, in milliseconds */
	latency?: number;
	/** the `Date` of the first answer, and when it had arrived, in epoch milliseconds */
	firstAnswer?: { readonly date: string | undefined; readonly at: number };
	/** the beginning of the list of datasets; undefined where the service refused it */
	datasets?: readonly Dataset[];
	/** the error of a service that answers and refuses the key */
	refusedKey?: CliError;
};

/** The dataset in which rights are checked. */
type Chosen = {
	readonly id: string;
	readonly documents: number | undefined;
};

/** The result of a check. The step has its name. */
export type Found = Omit<Check, "name">;

/** One check. Its own error for people is a failed check, so one that fails does not end the others of its stage. */
export type Step = {
	readonly name: string;
	/** the command to type next if it fails */
	readonly next?: string | undefined;
	/** undefined where there is nothing to report */
	readonly check: (doctor: Doctor) => Promise<Found | undefined> | Found | undefined;
};

/** Makes the checks of a stage in their order. */
export async function* checksOf(steps: readonly Step[], doctor: Doctor): AsyncGenerator<Check> {
	for (const { name, next, check } of steps) {
		const made = await attempt(() => check(doctor));
		const found = made instanceof CliError ? failed(made, next) : made;
		if (found !== undefined) yield { name, ...found };
	}
}

export const STORAGE = "storage";

/** Whether no later stage can be checked. The folder of runs does not matter to the service. */
export function isBroken({ name, status }: Check): boolean {
	return status === "failed" && name !== STORAGE;
}

/** The result of a call, or its error for people. */
export async function attempt<Value>(call: () => Promise<Value> | Value): Promise<Value | CliError> {
	try {
		return await call();
	} catch (error) {
		if (error instanceof CliError) return error;
		throw error;
	}
}

export function ok(text: string): Found {
	return { status: "ok", text };
}

export function warning(text: string, hint: string): Found {
	return { status: "warning", text, hint };
}

/** The check that failed with this error. */
export function failed(
	{ message, hint, exit }: Pick<CliError, "message" | "hint" | "exit">,
	next = "ragtag doctor",
): Found {
	return { status: "failed", text: message, hint, exit, next };
}

export function skipped(text: string, hint?: string): Found {
	return { status: "skipped", text, hint };
}

/** The next command: the one that the failed check advises, or the first step of the work. */
export function nextCommand(failure: Check | undefined, dataset: Chosen | undefined, flags: ServiceFlags): string {
	if (failure !== undefined) return withFlags(failure.next ?? "ragtag doctor", flags);
	if (dataset === undefined) return withFlags("ragtag datasets create NAME", flags);
	const id = quoted(dataset.id);
	const work = dataset.documents === 0 ? `docs upload FILE... -d ${id}` : `manifest init -d ${id} --out tags.csv`;
	return withFlags(`ragtag ${work}`, flags);
}

/** The next command after a failure of trust. */
export function untrustedNext(code: string): string {
	if (code === "TLS_UNTRUSTED") return "ragtag doctor --ca-file PATH";
	return code === "REDIRECT" || code === "TLS_OTHER_HOST" ? "ragtag doctor --base-url URL" : "ragtag doctor";
}
