import { reason, usageError } from "../errors.ts";
import { readPrivateFile } from "./private-file.ts";
import type { Setting, SettingSources } from "./types.ts";

/** The source of the key. It has not been read yet. The value is the key itself, a path or a command. */
export type KeySource = Setting<string> & { readonly kind: "text" | "stdin" | "file" | "command" };

export const HOW_TO_GIVE_A_KEY =
	"Set RAGTAG_API_KEY, or RAGTAG_API_KEY_FILE to the path of a file; `ragtag sandbox` serves the API here and prints a key.";

/** The key from its source, without line ends after it, and checked. No message repeats its text. */
export async function readKey(source: KeySource, sources: SettingSources): Promise<string> {
	return checkedKey(await rawKey(source, sources), source.origin);
}

async function rawKey(source: KeySource, sources: SettingSources): Promise<string> {
	switch (source.kind) {
		case "text":
			return source.value;
		case "stdin":
			return sources.stdin().catch((error: unknown) => {
				if (sources.signal?.aborted === true) throw error;
				const message = `cannot read the API key from standard input: ${reason(error)}`;
				throw usageError(message, undefined, error);
			});
		case "command":
			// Loaded late: it brings the code of child processes.
			return (await import("./key-command.ts")).keyFromCommand(source.value, source.origin, sources);
		case "file": {
			const { text, readableByAll } = await readPrivateFile(
				source.value,
				`the API key file of ${source.origin}`,
				sources.uid,
			);
			if (readableByAll) {
				sources.warn(
					`every user of this machine can read the API key file ${source.value}: chmod o-r '${source.value}'`,
				);
			}
			return text;
		}
	}
}

/** Refuses a key with a space, a line end or an accent: the service would refuse it, or a header would cut it. */
function checkedKey(raw: string, origin: string): string {
	// An editor may leave an empty line at the end.
	const key = raw.replace(/[\r\n]+$/, "");
	if (key === "") throw usageError(`the API key from ${origin} is empty`, HOW_TO_GIVE_A_KEY);
	if (/^["'‘’“”]|["'‘’“”]$/u.test(key)) {
		throw usageError(
			`the API key from ${origin} begins or ends with a quote mark`,
			"Give the key without quotes. Shells remove them, but key files and env files keep them.",
		);
	}
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw usageError(
			`the API key from ${origin} has characters that a key cannot have`,
			"It must be one line of plain characters, without spaces, quotes around it or a second line.",
		);
	}
	return key;
}
