import { reason } from "../errors.ts";
import { VERSION } from "../version.ts";
import { proxyFor } from "./proxy.ts";
import { Transport } from "./transport.ts";

/** Bytes of an answer that is read: a monitor answers `OK`. */
const LARGEST_ANSWER_BYTES = 64 * 1024;

/** 100 kB: what healthchecks.io keeps of a body (its documentation, "Attaching Logs"). */
const LARGEST_BODY_BYTES = 100_000;

/** A monitor of jobs. */
type PingTarget = {
	/** http or https, checked; its path is a secret */
	readonly url: URL;
	readonly ca: readonly string[];
	readonly env: Readonly<Record<string, string | undefined>>;
};

/** One sign of life. Without a text it is a GET. */
export type Ping = {
	/** added to the path: `start`, or an exit code */
	readonly signal: string;
	readonly text?: string;
	/** of the whole request, in milliseconds */
	readonly timeout: number;
};

/** Sends one sign of life, with no key. It follows no redirect. Resolves with why it failed; undefined where it arrived. */
export async function sendPing(
	{ url, ca, env }: PingTarget,
	{ signal, text, timeout }: Ping,
): Promise<string | undefined> {
	let transport: Transport | undefined;
	try {
		const proxy = proxyFor(url.href, env);
		const headers = ["user-agent", `ragtag/${VERSION}`];
		const options = { origin: url.origin, headers, connections: 1, timeout, ca, proxy };
		transport = new Transport(options, { host: url.host, redact });
		const status = await transport.send({
			method: text === undefined ? "GET" : "POST",
			path: `${url.pathname.replace(/\/+$/, "")}/${signal}${url.search}`,
			accept: "*/*",
			...(text === undefined ? {} : { headers: ["content-type", "text/plain"] }),
			body: text === undefined ? undefined : Buffer.from(text).subarray(0, LARGEST_BODY_BYTES).toString("utf8"),
			limit: LARGEST_ANSWER_BYTES,
			read: (answer) => answer.status,
		});
		if (status >= 200 && status < 300) return undefined;
		return `${url.host} answered ${status}${status >= 300 && status < 400 ? ", and redirects are not followed" : ""}`;
	} catch (error) {
		return reason(error);
	} finally {
		await transport?.close().catch(() => undefined);
	}
}

/** A monitor has no key to mask. */
const redact = (text: string): string => text;
