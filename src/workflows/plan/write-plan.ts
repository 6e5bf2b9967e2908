import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "../../plan/plan-file/planned.ts";
import { PlanText } from "../../plan/plan-file/encode.ts";
import { MAX_LINE_BYTES } from "../../run/journal/encode.ts";
import { syncFolder } from "../../run/journal/files.ts";
import { VERSION } from "../../version.ts";
import type { Run } from "../open-run.ts";

const NAME_A_FILE = "Name a file that can be written.";

/** Checks `--out` before the first request. @throws CliError exit 2 where a plan may not be written there */
export async function checkOut(out: string, force: boolean): Promise<void> {
	if (out === "-") {
		throw usageError("--out takes a file name, and - is none; nothing was sent");
	}
	const there = await stat(out).catch(() => undefined);
	if (there !== undefined && !there.isFile()) {
		throw usageError(`--out ${out}: is no regular file; nothing was sent`, NAME_A_FILE);
	}
	if (there !== undefined && !force) throw isThereAlready(out);
	await access(dirname(resolve(out)), constants.W_OK | constants.X_OK).catch((error: unknown) => {
		throw notMade(out, error);
	});
}

/** The path of a plan: `--out`, or one in a temporary folder, which removes it in the end. */
export async function pathOfPlan({ app, settings }: Pick<Run, "app" | "settings">, out?: string): Promise<string> {
	return out ?? join(await app.temporaryFolder(settings), `ragtag-plan-${randomBytes(8).toString("hex")}`);
}

/** A plan that is written. Disposing of it removes an incomplete one. */
export type PlanWriter = AsyncDisposable & {
	change(planned: PlannedChange): Promise<void>;
	/** completes the plan and renames it to `--out` */
	end(counts: Omit<PlanCounts, "changes">): Promise<void>;
};

/**
 * Writes a plan to a temporary file in the folder of `--out`, and renames it when it is complete. So an incomplete plan never
 * has the name of a complete one.
 *
 * @throws CliError exit 2 where no file can be created there
 */
export async function openPlanWriter(
	out: string,
	force: boolean,
	header: Omit<PlanHeader, "ragtag" | "created">,
): Promise<PlanWriter> {
	const path = join(dirname(out), `.${basename(out)}.${randomBytes(6).toString("hex")}`);
	const file = await open(path, "wx", 0o600).catch((error: unknown) => {
		throw notMade(out, error);
	});
	const text = new PlanText();
	let isComplete = false;
	const written = async (work: () => Promise<void>): Promise<void> => {
		try {
			await work();
		} catch (error) {
			if (error instanceof CliError) throw error;
			throw new CliError(`--out ${out}: ${reason(error)}`, {
				exit: Exit.output,
				hint: "Free some space there, or name another file, and run the same command again.",
				cause: error,
			});
		}
	};
	const append = (line: string): Promise<void> => written(() => file.appendFile(line));
	const close = async (): Promise<void> => {
		await file.close().catch(() => undefined);
		if (!isComplete) await rm(path, { force: true });
	};
	const made = { ...header, ragtag: VERSION, created: new Date().toISOString() };
	await append(text.header(made)).catch(async (error: unknown) => {
		await close();
		throw error;
	});
	return {
		async change(planned) {
			const line = text.change(planned);
			if (Buffer.byteLength(line) > MAX_LINE_BYTES) {
				const why = `the change of document ${planned.documentId} is too long for a plan: more than ${MAX_LINE_BYTES} bytes`;
				throw new CliError(why, { exit: Exit.output, hint: "Leave its row out, and send it with docs tag." });
			}
			await append(line);
		},
		async end(counts) {
			await append(text.footer(counts));
			await written(async () => {
				await file.sync();
				// Checked again: another program may have created the file while documents were read.
				if (!force && existsSync(out)) throw isThereAlready(out);
				await rename(path, out);
				isComplete = true;
				await syncFolder(dirname(out));
			});
		},
		[Symbol.asyncDispose]: close,
	};
}

function notMade(out: string, cause: unknown): CliError {
	return usageError(`--out ${out}: ${reason(cause)}; nothing was sent`, NAME_A_FILE, cause);
}

function isThereAlready(out: string): CliError {
	const hint = "Name another file, or overwrite it with --force.";
	return usageError(`--out ${out}: exists already; nothing was sent`, hint);
}
