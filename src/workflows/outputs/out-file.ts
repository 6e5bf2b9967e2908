import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { App } from "../../app.ts";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import { syncFolder } from "../../run/journal/files.ts";

const NAME_A_FILE = "Name a file that can be written.";

/**
 * Checks `--out` before the first request.
 *
 * @param force whether an existing file is replaced; undefined for a command without `--force`
 * @throws CliError exit 2 where no file may be written there
 */
export async function checkOut(out: string, force?: boolean): Promise<void> {
	if (out === "-") {
		throw usageError("--out takes a file name, and - is none; nothing was sent");
	}
	const there = await stat(out).catch(() => undefined);
	if (there !== undefined && !there.isFile()) {
		throw usageError(`--out ${out}: is no regular file; nothing was sent`, NAME_A_FILE);
	}
	if (there !== undefined && force !== true) throw isThereAlready(out, force);
	await access(dirname(resolve(out)), constants.W_OK | constants.X_OK).catch((error: unknown) => {
		throw notMade(out, error);
	});
}

/**
 * Writes a new file in the folder of `--out`, and renames it when it is complete. So an incomplete file never has the name of
 * a complete one, and disposing of it removes it.
 *
 * @throws CliError exit 2 where no file can be created there
 */
export async function openOut(out: string, force?: boolean) {
	const path = join(dirname(out), `.${basename(out)}.${randomBytes(6).toString("hex")}`);
	const file = await open(path, "wx", 0o600).catch((error: unknown) => {
		throw notMade(out, error);
	});
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
	return {
		/** @throws CliError exit 74 */
		append: (text: string) => written(() => file.appendFile(text)),
		/** Completes the file and renames it to `--out`. */
		end: () =>
			written(async () => {
				await file.sync();
				// Checked again: another program may have created the file meanwhile.
				if (force !== true && existsSync(out)) throw isThereAlready(out, force);
				await rename(path, out);
				isComplete = true;
				await syncFolder(dirname(out));
			}),
		async [Symbol.asyncDispose]() {
			await file.close().catch(() => undefined);
			if (!isComplete) await rm(path, { force: true });
		},
	};
}

/**
 * Writes the file of `--out`, or to standard output where none is named. An existing file is never overwritten: it may be a
 * manifest that the user has edited.
 *
 * @throws CliError exit 2 where the file can't be created, 74 where it can't be written
 */
export async function writeNewFile<Result>(
	out: string | undefined,
	{ io }: App,
	write: (print: (text: string) => Promise<void>) => Promise<Result>,
): Promise<Result> {
	if (out === undefined) return await write((text) => io.out(text));
	await checkOut(out);
	await using file = await openOut(out);
	const result = await write((text) => file.append(text));
	await file.end();
	return result;
}

function notMade(out: string, cause: unknown): CliError {
	return usageError(`--out ${out}: ${reason(cause)}; nothing was sent`, NAME_A_FILE, cause);
}

function isThereAlready(out: string, force: boolean | undefined): CliError {
	const other = force === undefined ? "remove it first" : "overwrite it with --force";
	return usageError(`--out ${out}: exists already; nothing was sent`, `Name another file, or ${other}.`);
}
