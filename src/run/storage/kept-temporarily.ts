import { CliError, errorCode, Exit, reason } from "../../errors.ts";

/**
 * Keeps something in the temporary folder.
 *
 * @param what is kept, as the subject of a sentence
 * @param result what came of the command, as the end of that sentence: `nothing was sent`
 * @throws CliError exit 7 where the storage refuses it, and whatever else the work throws as it is
 */
export async function keptTemporarily<Result>(
	what: string,
	work: () => Promise<Result>,
	result?: string,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		// What has words of its own keeps them; what the storage said has a code.
		if (error instanceof CliError || errorCode(error) === undefined) throw error;
		const end = result === undefined ? "" : `; ${result}`;
		throw new CliError(`${what} can't be kept in the temporary folder: ${reason(error)}${end}`, {
			exit: Exit.storage,
			hint: "Make room there, or name another folder with --state-dir.",
			cause: error,
		});
	}
}
