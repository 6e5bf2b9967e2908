import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit, reason } from "../errors.ts";
import { packageText } from "./package-files.ts";

/**
 * Writes the manual pages into an existing folder. npm installs them by itself; the executable brings them inside.
 *
 * @param commands words after `ragtag`, one entry a command; empty for the program itself
 * @returns how many pages were written
 * @throws CliError exit 1 where the build has no pages, exit 74 where one can't be written
 */
export async function writeManPages(commands: readonly string[], folder: string): Promise<number> {
	for (const command of commands) {
		const name = `${["ragtag", ...command.split(" ").filter((word) => word !== "")].join("-")}.1`;
		const page = await packageText(`dist/man/${name}`).catch((error: unknown) => {
			throw new CliError(`the manual page ${name} can't be read: ${reason(error)}`, {
				exit: Exit.failedRows,
				hint: "npm run build makes the manual pages.",
				cause: error,
			});
		});
		await writeFile(join(folder, name), page).catch((error: unknown) => {
			throw new CliError(`${join(folder, name)}: ${reason(error)}`, {
				exit: Exit.output,
				hint: `Create the folder first: mkdir -p ${folder}`,
				cause: error,
			});
		});
	}
	return commands.length;
}
