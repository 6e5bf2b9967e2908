import { isIPv4 } from "node:net";
import type { Setting } from "./types.ts";
import { usageError } from "../errors.ts";
import { urlOf } from "../text/urls.ts";

/**
 * The address of the service, checked.
 *
 * It may have no user name and no password, because addresses are printed and recorded. No message repeats them.
 */
export function checkedAddress({ value, origin }: Setting<string>): Setting<string> {
	const url = urlOf(value);
	if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
		const hint = "It looks like https://rag.example.com or http://127.0.0.1:9380.";
		// Repeated only if it is nearly an address and can have no password: a key may have been typed here by mistake.
		const isNearly = !value.includes("@") && (value.includes("://") || /^[a-z\d.-]+(?::\d+)?(?:\/|$)/.test(value));
		const shown = isNearly ? `: ${JSON.stringify(value)}` : "";
		throw usageError(`the address in ${origin} is no http or https address${shown}`, hint);
	}
	if (url.username !== "" || url.password !== "") {
		throw usageError(
			`the address in ${origin} holds a user name or password`,
			"Give the key in RAGTAG_API_KEY instead.",
		);
	}
	if (url.search !== "" || url.hash !== "") {
		throw usageError(`the address in ${origin} has a ? or # part`, "Give it as scheme, host, port and path only.");
	}
	return { value: url.origin + url.pathname.replace(/\/+$/, ""), origin };
}

/** Whether two checked addresses are one service, with or without `/api` or `/api/v1`. */
export function sameService(one: string, other: string): boolean {
	const withoutApi = (address: string): string => address.replace(/\/api(\/v1)?$/, "");
	return withoutApi(one) === withoutApi(other);
}

export function isPlainHttp(address: string): boolean {
	return new URL(address).protocol === "http:";
}

/**
 * Whether a checked address is on this machine. It compares the parsed host, because `127.0.0.1.example.org` can be any
 * machine. `URL` writes every form of an IPv4 address as four numbers. Names below `localhost` do not count: the system's
 * resolver decides where they lead.
 */
export function isLoopback(address: string): boolean {
	const { hostname } = new URL(address);
	return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}

/** The address of a monitor. No message repeats it: who knows it can report for the job. @throws CliError exit 2 */
export function pingUrl(text: string, origin: string): URL {
	const url = urlOf(text);
	const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
	if (url !== undefined && isHttp && url.username === "" && url.password === "" && url.hash === "") return url;
	throw usageError(
		`${origin} is no http or https address without a user name; nothing was sent`,
		"Write it as the monitor shows it, as in https://hc-ping.com/ID.",
	);
}

/** The address of the Redis of a shared cap. No message repeats it: it may hold a password. @throws CliError exit 2 */
export function limiterUrl(text: string, origin: string): URL {
	const url = urlOf(text);
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
	throw usageError(
		`${origin} is not the address of a Redis; nothing was sent`,
		"Write it as in redis://HOST:6379/0, rediss://HOST:6379 with TLS, or redis://USER:PASSWORD@HOST:6379. A percent sign in a password is %25.",
	);
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
