/** Every exit code of the program. Scripts rely on their meanings: see `ragtag help exit-codes`. */
export const Exit = {
	/** every row reached its goal and every output was written */
	ok: 0,
	/** finished, and at least one row failed; or the service refused a command that runs no rows */
	failedRows: 1,
	/** wrong usage or configuration; nothing was written */
	usage: 2,
	/** manifest invalid; nothing was sent */
	manifest: 3,
	/** not trusted: key, certificate or redirect refused; stopped */
	untrusted: 4,
	/** another run of the same manifest is going on; nothing was sent */
	locked: 5,
	/** stopped early for a cause that passes */
	temporary: 6,
	/** this machine's storage failed */
	storage: 7,
	/** the manifest or the plan is not the one that was checked, or is for another target; nothing more was sent */
	foreign: 8,
	/** stopped by a limit, the user's or the built-in one */
	limit: 9,
	/** a written value is lost, or `--detailed-exitcode` found that a document would change */
	differences: 10,
	/** a fault of the program itself */
	internal: 70,
	/** a report or standard output could not be written */
	output: 74,
	hangup: 129,
	interrupted: 130,
	terminated: 143,
} as const;

export type ExitCode = (typeof Exit)[keyof typeof Exit];

/** An error for the user: one sentence, an exit code, and what to type next. */
export class CliError extends Error {
	override readonly name = "CliError";
	readonly exit: ExitCode;
	/** one sentence that says what to do next */
	readonly hint: string | undefined;

	constructor(message: string, options: { exit: ExitCode; hint?: string | undefined; cause?: unknown }) {
		super(message, options.cause === undefined ? {} : { cause: options.cause });
		this.exit = options.exit;
		this.hint = options.hint;
	}
}

/** An error of what was typed or configured, before anything was written: exit 2. */
export function usageError(message: string, hint?: string, cause?: unknown): CliError {
	return new CliError(message, { exit: Exit.usage, hint, cause });
}

/** Thrown to end a command before its rows are sent. It is an end as that of a run, with counts and a summary. */
export class EarlyEnd extends Error {
	/** prints the end, and gives the exit code */
	readonly report: () => Promise<ExitCode>;

	constructor(report: () => Promise<ExitCode>) {
		super("the command ended before its rows were sent");
		this.report = report;
	}
}

/** The reason in an unknown thrown value, in one line. */
export function reason(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	// A system error of Node repeats its code and call: "ENOENT: no such file or directory, open 'x'".
	const system = /^[A-Z0-9_]+: (.+?)(?:, \w+(?: '.*')?)?$/s.exec(error.message);
	return (system?.[1] ?? error.message).replaceAll(/\s*\n\s*/g, " ");
}

/** The result of a call; undefined where it fails, for whatever reason. */
export function quietly<Result>(call: () => Result): Result | undefined {
	try {
		return call();
	} catch {
		return undefined;
	}
}

/** The code of a system or library error (`ENOENT`, `UND_ERR_SOCKET`), if it has one. */
export function errorCode(error: unknown): string | undefined {
	if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
	return typeof error.code === "string" ? error.code : undefined;
}
