import { isIPv4 } from "node:net";
import { CliError, Exit } from "../errors.ts";
import type { Setting } from "./types.ts";

/**
 * The address of the service, checked.
 *
 * A user name or password in it is refused and not repeated: addresses are printed and recorded, keys are not.
 */
export function checkedAddress({ value, origin }: Setting<string>): Setting<string> {
	const url = URL.canParse(value) ? new URL(value) : undefined;
	if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
		const hint = "It looks like https://rag.example.com or http://127.0.0.1:9380.";
		// Repeated only where it is an address nearly, and no password can be in it: a key may stand there by mistake.
		const isNearly = !value.includes("@") && (value.includes("://") || /^[a-z\d.-]+(?::\d+)?(?:\/|$)/.test(value));
		const shown = isNearly ? `: ${JSON.stringify(value)}` : "";
		throw new CliError(`the address in ${origin} is no http or https address${shown}`, { exit: Exit.usage, hint });
	}
	if (url.username !== "" || url.password !== "") {
		throw usage(`the address in ${origin} holds a user name or password`, "Give the key in RAGTAG_API_KEY instead.");
	}
	if (url.search !== "" || url.hash !== "") {
		throw usage(`the address in ${origin} has a ? or # part`, "Give it as scheme, host, port and path only.");
	}
	return { value: url.origin + url.pathname.replace(/\/+$/, ""), origin };
}

/** Whether two checked addresses are one service: `/api/v1` or its beginning may be there or not. */
export function sameService(one: string, other: string): boolean {
	const bare = (address: string): string => address.replace(/\/api(\/v1)?$/, "");
	return bare(one) === bare(other);
}

export function isPlainHttp(address: string): boolean {
	return new URL(address).protocol === "http:";
}

/**
 * Whether a checked address is this machine's own: by its parsed host, as `127.0.0.1.example.org` is anyone's. `URL` has
 * written every form of an IPv4 address as four numbers. Names below `localhost` are for the system's resolver to tell.
 */
export function isLoopback(address: string): boolean {
	const { hostname } = new URL(address);
	return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}

function usage(message: string, hint: string): CliError {
	return new CliError(message, { exit: Exit.usage, hint });
}
