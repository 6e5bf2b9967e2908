import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** A request that is refused with a reason. Thrown before anything was written. */
export class Refusal extends Error {
	override readonly name = "Refusal";
	/** HTTP status, and the envelope's code: the documentation names no codes of its own, so both are one number */
	readonly code: number;
	/** headers that the status asks for (`allow`, `www-authenticate`) */
	readonly headers: Readonly<Record<string, string>>;

	constructor(code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
		super(message);
		this.code = code;
		this.headers = headers;
	}
}

/** The JSON text of a refusal's envelope. */
export function refusalText(refusal: Refusal): string {
	return JSON.stringify({ code: refusal.code, message: refusal.message });
}

/** Names of this machine. With any other `Host`, a web page had its own name resolve to the loopback address. */
const localHosts = ["127.0.0.1", "localhost", "[::1]"];

/** Refuses a foreign `Host` with 403, whatever the error style. */
export function checkHost(request: IncomingMessage): void {
	const host = request.headers.host?.toLowerCase() ?? "";
	const port = request.socket.localPort;
	for (const name of localHosts) if (host === `${name}:${port}` || (port === 80 && host === name)) return;
	throw new Refusal(403, "the header Host names another machine than this one");
}

/** Refuses a missing or wrong key with 401, whatever the error style. */
export function checkKey(request: IncomingMessage, key: string): void {
	const sent = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
	if (sent === undefined) throw unauthorized("the header Authorization: Bearer <API_KEY> is missing");
	if (!sameKey(sent, key)) throw unauthorized("the API key is wrong");
}

/** Compares in constant time, so that the time does not show how much of a key was right. */
export function sameKey(sent: string, key: string): boolean {
	const [bytes, expected] = [Buffer.from(sent), Buffer.from(key)];
	return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function unauthorized(message: string): Refusal {
	return new Refusal(401, message, { "www-authenticate": "Bearer" });
}
