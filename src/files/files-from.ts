import { type CliError, reason, usageError } from "../errors.ts";
import { readInput } from "../input-file.ts";
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
	const bytes = await (file === "-" ? readAll(stdin) : readInput(file, MOST_BYTES)).catch((error: unknown) => {
		throw refusal(file, `can't be read: ${reason(error)}`, error);
	});
	const text = decoded(bytes);
	if (text === undefined) throw refusal(file, "is no text in UTF-8");
	if (isNul) return text.split("\0").filter((path) => path !== "");
	if (text.includes("\0")) throw refusal(file, "has NULs: add -0 where they stand between the paths");
	const lines = text.replace(/^\ufeff/, "").split("\n");
	return lines.map((line) => line.replace(/\r$/, "")).filter((path) => path !== "");
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of stream) {
		size += chunk.length;
		if (size > MOST_BYTES) throw new Error(`it is longer than ${MOST_BYTES} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

function decoded(bytes: Buffer): string | undefined {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

function refusal(file: string, why: string, cause?: unknown): CliError {
	const named = file === "-" ? "standard input" : excerpt(file);
	return usageError(`--files-from: ${named} ${why}; nothing was sent`, undefined, cause);
}
