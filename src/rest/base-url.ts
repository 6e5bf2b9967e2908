import { CliError, Exit } from "../errors.ts";

const hint = "write it like https://HOST or https://HOST/api/v1";

/**
 * The one form of a base URL: origin, prefix and `/api/v1`, whatever of `/api`, `/api/v1` and closing slashes was typed.
 *
 * The text itself is never repeated: what was typed by mistake may be a key or a password.
 *
 * @throws CliError (usage) where it is no http or https address, or carries credentials, a query or a fragment
 */
export function normaliseBaseUrl(text: string): string {
	const typed = text.trim();
	// The URL parser would take out tabs and line breaks and turn backslashes around without a word.
	if (!/^https?:\/\//i.test(typed) || /[\s\\\p{Cc}]/u.test(typed)) {
		throw refusal("the base URL is not an http or https address");
	}
	if (/[?#]/.test(typed)) throw refusal("the base URL has a query or a fragment");
	const url = parse(typed);
	if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/]*@/i.test(typed)) {
		throw refusal("the base URL carries a user name or a password");
	}
	const prefix = url.pathname
		.replace(/\/+$/, "")
		.replace(/\/api(\/v1)?$/, "")
		.replace(/\/+$/, "");
	if (prefix.includes("//")) throw refusal("the path of the base URL has an empty segment");
	return `${url.origin}${prefix}/api/v1`;
}

function parse(text: string): URL {
	try {
		return new URL(text);
	} catch {
		// The parser's error repeats the text.
		throw refusal("the base URL is not a valid address");
	}
}

function refusal(message: string): CliError {
	return new CliError(message, { exit: Exit.usage, hint });
}
