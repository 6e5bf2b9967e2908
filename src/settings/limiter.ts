import { CliError, Exit } from "../errors.ts";

/** The address of the Redis of a shared cap. No message repeats it: it may hold a password. @throws CliError exit 2 */
export function limiterUrl(text: string, origin: string): URL {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const isRedis = url?.protocol === "redis:" || url?.protocol === "rediss:";
	// A query would be options of the client.
	if (
		url !== undefined &&
		isRedis &&
		url.hostname !== "" &&
		/^(\/\d*)?$/.test(url.pathname) &&
		url.search + url.hash === "" &&
		isDecodable(url.username + url.password)
	) {
		return url;
	}
	throw new CliError(`${origin} is not the address of a Redis; nothing was sent`, {
		exit: Exit.usage,
		hint: "Write it as in redis://HOST:6379/0, rediss://HOST:6379 with TLS, or redis://USER:PASSWORD@HOST:6379. A percent sign in a password is %25.",
	});
}

/** Whether each percent sign begins an escape, as everything that reads the address expects. */
function isDecodable(text: string): boolean {
	try {
		decodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
}
