import { CliError, Exit } from "../errors.ts";

/**
 * The key without the line break that files and pipes end with.
 *
 * @throws CliError (usage) where it can't be a key; the message carries no part of it
 */
export function checkKey(text: string): string {
	const key = text.replace(/\r?\n$/, "");
	if (key === "")
		throw new CliError("the API key is empty", { exit: Exit.usage, hint: "give the key that the service issued" });
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw new CliError(
			"the API key has a character that no key has: a space, a line break, a control or a non-ASCII character",
			{
				exit: Exit.usage,
				hint: "the key must be alone in its file or variable, on one line",
			},
		);
	}
	return key;
}
