import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "./envelope.ts";

/** Names of this machine. Any other `Host` is a web page that had its own name resolve to the loopback address. */
const hosts = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Refuses requests that are not meant for this sandbox: a foreign `Host` with 403, a missing or wrong key with 401.
 * Both keep their HTTP status in every error style.
 */
export function guard(key: string): (request: IncomingMessage) => void {
	return (request) => {
		checkHost(request);
		const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
		if (given === undefined) throw unauthorized("the header Authorization: Bearer <API_KEY> is missing");
		if (!sameKey(given, key)) throw unauthorized("the API key is wrong");
	};
}

/** Compared in a time that tells nothing of how much of it was right. */
export function sameKey(given: string, key: string): boolean {
	const [bytes, expected] = [Buffer.from(given), Buffer.from(key)];
	return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

export function checkHost(request: IncomingMessage): void {
	const host = request.headers.host?.toLowerCase() ?? "";
	const port = request.socket.localPort;
	for (const name of hosts) if (host === `${name}:${port}` || (port === 80 && host === name)) return;
	throw new Refusal(403, "the header Host names another machine than this one");
}

function unauthorized(message: string): Refusal {
	return new Refusal(401, message, { "www-authenticate": "Bearer" });
}
