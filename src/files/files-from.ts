import { isUtf8 } from "node:buffer";
import { type CliError, reason, usageError } from "../errors.ts";
import { readBytes, readInput } from "../input-file.ts";
import { excerpt } from "../text/show.ts";

/** 256 MiB: paths of a million files. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * The paths of `--files-from`, one a line or, with `isNul`, between NULs. Empty ones are left out.
 *
 * @param file its path; `-` for standard input
 * @throws CliError exit 2 where it can't be read, or is no text in UTF-8
 */
export async function readFilesFrom(
	file: string,
	isNul: boolean,
	stdin: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
	const bytes = await (file === "-" ? readBytes(stdin, MOST_BYTES) : readInput(file, MOST_BYTES)).catch(
		(error: unknown) => {
			throw refusal(file, `can't be read: ${reason(error)}`, error);
		},
	);
	if (!isUtf8(bytes)) throw refusal(file, "is no text in UTF-8");
	const text = bytes.toString("utf8");
	if (isNul) return text.split("\0").filter((path) => path !== "");
	if (text.includes("\0")) throw refusal(file, "has NULs: add -0 where they stand between the paths");
	const lines = text.replace(/^\ufeff/, "").split("\n");
	return lines.map((line) => line.replace(/\r$/, "")).filter((path) => path !== "");
}

function refusal(file: string, why: string, cause?: unknown): CliError {
	const named = file === "-" ? "standard input" : excerpt(file);
	return usageError(`--files-from: ${named} ${why}; nothing was sent`, undefined, cause);
}
