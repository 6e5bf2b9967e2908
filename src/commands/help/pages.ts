import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { CliError, Exit } from "../../errors.ts";
import { VERSION } from "../../version.ts";

/** The pages of `docs/` that `ragtag help` prints. */
export const pages = [
	"servers",
	"runs",
	"manifests",
	"review-and-undo",
	"settings",
	"sandbox",
	"json",
	"troubleshooting",
	"reliability",
	"faults",
	"security",
	"limits",
] as const;

/** `docs/` as seen from `dist/bin` or `dist/parts`, and from this file where the program runs from its sources. */
const FOLDER = new URL(VERSION === "0.0.0-dev" ? "../../../docs/" : "../../docs/", import.meta.url);

/**
 * A page as it is in the package.
 *
 * @throws CliError exit 1 where the package was installed without its documents
 */
export async function pageText(name: string, folder: URL = FOLDER): Promise<string> {
	try {
		return await readFile(new URL(`${name}.md`, folder), "utf8");
	} catch (error) {
		throw new CliError(`the page ${name} can't be read: ${fileURLToPath(new URL(`${name}.md`, folder))}`, {
			exit: Exit.failedRows,
			hint: `It is docs/${name}.md of the package ragtag-cli and of the project's repository.`,
			cause: error,
		});
	}
}
