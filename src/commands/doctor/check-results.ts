import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { Chosen } from "./dataset.ts";

export type Attempted<Value> = { readonly value: Value } | { readonly error: CliError };

/** The result of a call, or its error for people: one check that fails must not end the others. */
export async function attempt<Value>(call: () => Promise<Value> | Value): Promise<Attempted<Value>> {
	try {
		return { value: await call() };
	} catch (error) {
		if (error instanceof CliError) return { error };
		throw error;
	}
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
export function nextCommand(failure: Check | undefined, dataset: Chosen | undefined, flags: GlobalFlags): string {
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
