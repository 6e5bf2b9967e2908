import { open, rm } from "node:fs/promises";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import type { Print } from "./documents-csv.ts";

/**
 * Makes the file of `--out` and has it written, never over a file that is there: it may be the manifest that somebody has
 * edited. Where writing ends in an error, the file is removed.
 *
 * @throws CliError exit 2 where the file can't be made, 74 where it can't be written
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
		// Half a manifest would look like a whole one, and stand in the way of the next try.
		await rm(out, { force: true });
		throw error;
	} finally {
		await file.close();
	}
}
