import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout } from "node:timers/promises";
import { connect, type PeerCertificate } from "node:tls";
import { classifyFailure, Expired } from "./classify-failure.ts";
import { CONNECT_TIMEOUT_MS, trusting } from "./connections.ts";
import type { RestErrorKind } from "./errors.ts";
import { comparableHost, isLoopback, type Route, routeTo } from "./proxy.ts";

export type PreflightOptions = {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** further trusted certificates, PEM; called only for a handshake */
	readonly ca: () => Promise<readonly string[]>;
	readonly signal: AbortSignal;
	/** of each step, in milliseconds; never more than a request may take to connect */
	readonly timeout?: number | undefined;
};

/** The way to the service, checked one step at a time. No step sends a key or a request. */
export type Preflight = {
	/** as requests use it, `/api/v1` included */
	readonly baseUrl: string;
	readonly host: Host;
	readonly isHttps: boolean;
	/** whether the service is on this machine itself */
	readonly isLoopback: boolean;
	/** @throws CliError (usage) if the variable of the proxy has no address */
	route(): SafeRoute;
	/** every address of a host */
	lookUp(host: string): Promise<PreflightResult<readonly string[]>>;
	shakeHands(): Promise<PreflightResult<Handshake>>;
};

/** A host as the address names it. */
export type Host = { readonly name: string; /** an IP address, which needs no look-up */ readonly isLiteral: boolean };

/** A route without the secret parts of a proxy's address. */
export type SafeRoute =
	| Extract<Route, { kind: "direct" }>
	| {
			readonly kind: "proxy";
			readonly variable: string;
			/** host and port */
			readonly address: string;
			readonly host: Host;
	  };

/** The TLS parameters of a service with a trusted certificate. */
export type Handshake = {
	/** as in `TLSv1.3` */
	readonly protocol: string;
	/** the authority that issued the certificate */
	readonly issuer: string;
	/** when the certificate expires, in epoch milliseconds */
	readonly expires: number;
};

export type PreflightResult<Value> = { readonly value: Value } | { readonly failure: PreflightFailure };

/** The failure of a step: one sentence for people, and stable names for scripts and decisions. */
export type PreflightFailure = {
	readonly kind: RestErrorKind;
	/** as in `HOST_NOT_FOUND`, `TLS_UNTRUSTED` */
	readonly code: string;
	readonly message: string;
};

export function createPreflight(options: PreflightOptions): Preflight {
	const { baseUrl, env, ca, signal, timeout = CONNECT_TIMEOUT_MS } = options;
	const url = new URL(baseUrl);
	const host = hostOf(url);
	const limit = Math.min(timeout, CONNECT_TIMEOUT_MS);

	async function step<Value>(subject: string, work: Promise<Value>): Promise<PreflightResult<Value>> {
		try {
			return { value: await withTimeout(work, limit, signal) };
		} catch (error) {
			signal.throwIfAborted();
			if (error instanceof Expired) {
				const message = `${subject}: no answer within ${limit / 1000} s`;
				return { failure: { kind: "not_sent", code: "TIMEOUT", message } };
			}
			// No key was sent, so no answer can repeat it.
			const { kind, code, message } = classifyFailure(error, false, { host: subject, redact: (text) => text });
			return { failure: { kind, code, message } };
		}
	}

	return {
		baseUrl,
		host,
		isHttps: url.protocol === "https:",
		isLoopback: isLoopback(host.name),
		route: () => {
			const route = routeTo(baseUrl, env);
			if (route.kind === "direct") return route;
			const proxy = new URL(route.uri);
			return { kind: "proxy", variable: route.variable, address: proxy.host, host: hostOf(proxy) };
		},
		lookUp: (name) => step(name, lookUp(name)),
		shakeHands: async () => {
			const trust = await trusting(await ca());
			const finished = new AbortController();
			try {
				const port = Number(url.port || 443);
				return await step(url.host, shakeHands({ host: host.name, port }, trust, finished.signal));
			} finally {
				finished.abort();
			}
		},
	};
}

function hostOf(url: URL): Host {
	const name = comparableHost(url.hostname);
	return { name, isLiteral: isIP(name) !== 0 };
}

/** Every address of a host, from this machine's own resolver: it reads `/etc/hosts` too, as it does for requests. */
async function lookUp(host: string): Promise<readonly string[]> {
	const found = await lookup(host, { all: true });
	return found.map(({ address }) => address);
}

/**
 * Opens one TLS connection with the trust of requests, and closes it. It sends nothing on the connection.
 *
 * Rejects with Node's error if the connection can't be opened or is not trusted.
 */
function shakeHands(
	{ host, port }: { readonly host: string; readonly port: number },
	trust: Awaited<ReturnType<typeof trusting>>,
	signal: AbortSignal,
): Promise<Handshake> {
	return new Promise((resolve, reject) => {
		const socket = connect({
			host,
			port,
			// RFC 6066: an IP address is no server name.
			...(isIP(host) === 0 ? { servername: host } : {}),
			ALPNProtocols: ["http/1.1"],
			...trust,
		});
		const stop = (): void => void socket.destroy();
		signal.addEventListener("abort", stop, { once: true });
		socket.once("secureConnect", () => {
			const certificate = socket.getPeerCertificate();
			const shown = {
				protocol: socket.getProtocol() ?? "TLS",
				issuer: issuerOf(certificate),
				expires: Date.parse(certificate.valid_to),
			};
			socket.destroy();
			resolve(shown);
		});
		// Never removed: a destroyed connection may still fail.
		socket.on("error", reject);
		socket.once("close", () => {
			signal.removeEventListener("abort", stop);
			reject(new Error("the connection was closed during the TLS handshake"));
		});
	});
}

function issuerOf({ issuer }: PeerCertificate): string {
	// Node's types promise texts, but a name that occurs twice is a list.
	const names: unknown[] = [issuer.CN, issuer.O, issuer.OU];
	return (
		names
			.flat()
			.find((name) => typeof name === "string" && name !== "")
			?.toString() ?? "an unnamed authority"
	);
}

/** Stops waiting after `milliseconds`, or when the signal aborts. The work itself goes on: a look-up can't be cancelled. */
async function withTimeout<Value>(work: Promise<Value>, milliseconds: number, signal: AbortSignal): Promise<Value> {
	const finished = new AbortController();
	const ended = { signal: AbortSignal.any([signal, finished.signal]) };
	const expired = async (): Promise<never> => {
		await setTimeout(milliseconds, undefined, ended);
		throw new Expired("no answer in time");
	};
	try {
		return await Promise.race([work, expired()]);
	} finally {
		finished.abort();
	}
}
