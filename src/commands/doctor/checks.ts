import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { ServiceFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { Check } from "../../report/checks.ts";
import type { Preflight, SafeRoute } from "../../rest/preflight.ts";
import type { Recognition } from "../../run/service/service-memory.ts";

export type DoctorFlags = ServiceFlags & { readonly dataset?: string | undefined; readonly json?: boolean | undefined };

/** What checks work with, and what each finds for the later ones and for the last line. */
export type Doctor = {
	readonly app: App;
	readonly settings: Settings;
	readonly flags: DoctorFlags;
	/** used only for masking */
	key?: string;
	reach?: Preflight;
	route?: SafeRoute;
	isTrustKnown?: boolean;
	recognition?: Recognition;
	dataset?: Chosen | undefined;
	/** median, in milliseconds */
	latency?: number;
	/** requests a second */
	safeRate?: number;
};

/** The same with a connection to the service. */
export type Connected = Doctor & {
	readonly session: Session;
	/** the `Date` of the first answer, and when it had arrived, in epoch milliseconds; undefined until there was one */
	readonly firstAnswer: () => { readonly date: string | undefined; readonly at: number } | undefined;
};

/** The dataset in which rights and values are checked. */
export type Chosen = {
	readonly id: string;
	/** the flag or setting that named it; undefined for the first of the list */
	readonly origin: string | undefined;
	readonly documents: number | undefined;
};

/** One check of a table. Its own error for people is a failed check, so one that fails does not end the others. */
export type Step<Context> = {
	readonly name: string;
	/** the command to type next if it fails */
	readonly next?: string | undefined;
	/** undefined where there is nothing to report */
	readonly check: (context: Context) => Promise<Check | undefined> | Check | undefined;
};

export async function* checksOf<Context>(steps: readonly Step<Context>[], context: Context): AsyncGenerator<Check> {
	for (const { name, next, check } of steps) {
		const found = await attempt(() => check(context));
		if ("error" in found) yield failed(name, found.error, next);
		else if (found.value !== undefined) yield found.value;
	}
}

type Attempted<Value> = { readonly value: Value } | { readonly error: CliError };

/** The result of a call, or its error for people. */
export async function attempt<Value>(call: () => Promise<Value> | Value): Promise<Attempted<Value>> {
	try {
		return { value: await call() };
	} catch (error) {
		if (error instanceof CliError) return { error };
		throw error;
	}
}

export function ok(name: string, text: string): Check {
	return { name, status: "ok", text };
}

export function warning(name: string, text: string, hint: string): Check {
	return { name, status: "warning", text, hint };
}

/** The check that failed with this error. */
export function failed(name: string, { message, hint, exit }: CliError, next = "ragtag doctor"): Check {
	return { name, status: "failed", text: message, hint, exit, next };
}

export function skipped(name: string, text: string, hint?: string, next?: string): Check {
	return { name, status: "skipped", text, hint, next };
}

/** Exit codes by precedence where several checks failed: what must be set before anything is sent comes first. */
const PRECEDENCE: readonly ExitCode[] = [Exit.usage, Exit.untrusted, Exit.temporary, Exit.failedRows];

/** The failed check that the exit code and the last line are about. */
export function decisiveFailure(
	checks: readonly Check[],
): { readonly check: Check; readonly exit: ExitCode } | undefined {
	const failures = checks.flatMap((check) =>
		check.status === "failed" ? [{ check, exit: check.exit ?? Exit.failedRows }] : [],
	);
	const rank = (exit: ExitCode): number => (PRECEDENCE.includes(exit) ? PRECEDENCE.indexOf(exit) : PRECEDENCE.length);
	return failures.toSorted((one, other) => rank(one.exit) - rank(other.exit))[0];
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
