import { open, rm } from "node:fs/promises";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import type { Print } from "./documents-csv.ts";

/**
 * Creates the file of `--out` and writes it. An existing file is never overwritten: it may be a manifest that the user has
 * edited. If writing fails, the file is removed.
 *
 * @throws CliError exit 2 where the file can't be created, 74 where it can't be written
 */
export async function writeNewFile<Result>(out: string, write: (print: Print) => Promise<Result>): Promise<Result> {
	const file = await open(out, "wx", 0o600).catch((error: unknown) => {
		const exists = errorCode(error) === "EEXIST";
		throw new CliError(`--out ${out}: ${exists ? "exists already" : reason(error)}`, {
			exit: Exit.usage,
			hint: exists ? "Name another file, or remove it first." : "Name a file that can be written.",
		});
	});
	const print: Print = async (text) => {
		try {
			await file.appendFile(text);
		} catch (error) {
			throw new CliError(`--out ${out}: ${reason(error)}`, { exit: Exit.output, cause: error });
		}
	};
	try {
		return await write(print);
	} catch (error) {
		// A cut manifest would look complete, and the next attempt could not create the file.
		await rm(out, { force: true });
		throw error;
	} finally {
		await file.close();
	}
}
