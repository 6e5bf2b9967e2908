import { isIP } from "node:net";
import { errorCode } from "../errors.ts";
import { classifyFailure, Expired } from "./classify-failure.ts";
import { connectTimeout, tlsOptions } from "./connections.ts";
import { bare, isLoopback, type Route, routeTo } from "./proxy.ts";
import type { RestErrorKind } from "./errors.ts";
import { lookup } from "dns/promises";
import { connect, type PeerCertificate } from "tls";

/** Every address of a host, as this machine's own resolver gives them: `/etc/hosts` counts, as it does for requests. */
export async function lookUp(host: string): Promise<readonly string[]> {
	const found = await lookup(host, { all: true });
	return found.map(({ address }) => address);
}

/** Gives up waiting after `milliseconds`, or when the signal aborts: a look-up can't be cancelled, but left behind. */
export async function withTimeout<Value>(
	promise: Promise<Value>,
	milliseconds: number,
	signal: AbortSignal,
): Promise<Value> {
	const leave = new AbortController();
	try {
		return await Promise.race([
			promise,
			new Promise<never>((_, reject) => {
				const timer = setTimeout(() => reject(new Expired("no answer in time")), milliseconds);
				leave.signal.addEventListener("abort", () => clearTimeout(timer));
				// The contract is to reject with the signal's reason, which need not be an Error.
				const stop = (): void => reject(signal.reason);
				if (signal.aborted) stop();
				signal.addEventListener("abort", stop, { signal: leave.signal });
			}),
		]);
	} finally {
		leave.abort();
	}
}

export type PreflightOptions = {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** further trusted certificates, PEM; read only for a handshake */
	readonly ca: () => Promise<readonly string[]>;
	readonly signal: AbortSignal;
	/** of each look, in milliseconds; never longer than a connection of a request may take */
	readonly timeout?: number | undefined;
};

/** A host as the address names it. */
export type Host = { readonly name: string; /** an IP address, which needs no look-up */ readonly isLiteral: boolean };

/** The way to the service, one step at a time. Nothing is sent: no key, no request. */
export type Preflight = {
	/** as it is used, `/api/v1` included */
	readonly baseUrl: string;
	readonly host: Host;
	readonly isHttps: boolean;
	/** whether the service is on this machine itself */
	readonly isLoopback: boolean;
	/** @throws CliError (usage) where the variable of the proxy holds no address */
	route(): SafeRoute;
	lookUp(host: string): Promise<PreflightResult<readonly string[]>>;
	shakeHands(): Promise<PreflightResult<Handshake>>;
};

/** A route without what may be secret of a proxy's address. */
export type SafeRoute =
	| Extract<Route, { kind: "direct" }>
	| {
			readonly kind: "proxy";
			readonly variable: string;
			/** host and port */
			readonly address: string;
			readonly host: Host;
	  };

export type PreflightResult<Value> = { readonly value: Value } | { readonly failure: PreflightFailure };

/** Why a step failed: one sentence, and the names that scripts and decisions go by. */
export type PreflightFailure = {
	readonly kind: RestErrorKind;
	/** as in `HOST_NOT_FOUND`, `TLS_UNTRUSTED` */
	readonly code: string;
	/** Node's own name of it, as in `CERT_HAS_EXPIRED` */
	readonly cause: string | undefined;
	readonly message: string;
};

export function createPreflight({ baseUrl, env, ca, signal, timeout = connectTimeout }: PreflightOptions): Preflight {
	const url = new URL(baseUrl);
	const host = hostOf(url);
	const isHttps = url.protocol === "https:";
	const limit = Math.min(timeout, connectTimeout);

	async function look<Value>(place: string, looking: Promise<Value>): Promise<PreflightResult<Value>> {
		try {
			return { value: await withTimeout(looking, limit, signal) };
		} catch (error) {
			signal.throwIfAborted();
			if (error instanceof Expired) {
				const message = `${place}: no answer within ${limit / 1000} s`;
				return { failure: { kind: "not_sent", code: "TIMEOUT", cause: undefined, message } };
			}
			// Nothing was sent, so there is no key that an answer could give back.
			const { kind, code, message } = classifyFailure(error, false, { host: place, redact: (text) => text });
			return { failure: { kind, code, cause: errorCode(error), message } };
		}
	}

	return {
		baseUrl,
		host,
		isHttps,
		isLoopback: isLoopback(host.name),
		route: () => {
			const route = routeTo(baseUrl, env);
			if (route.kind === "direct") return route;
			const proxy = new URL(route.uri);
			return { kind: "proxy", variable: route.variable, address: proxy.host, host: hostOf(proxy) };
		},
		lookUp: (name) => look(name, lookUp(name)),
		shakeHands: async () => {
			const trusted = await ca();
			const over = new AbortController();
			try {
				const port = Number(url.port || 443);
				return await look(url.host, shakeHands({ host: host.name, port }, trusted, over.signal));
			} finally {
				over.abort();
			}
		},
	};
}

function hostOf(url: URL): Host {
	const name = bare(url.hostname);
	return { name, isLiteral: isIP(name) !== 0 };
}

/** What a service shows of itself when a TLS connection is opened, its certificate being trusted. */
export type Handshake = {
	/** as in `TLSv1.3` */
	readonly protocol: string;
	/** the name of the authority that vouches for the certificate */
	readonly issuer: string;
	/** when the certificate ends, in epoch milliseconds */
	readonly expires: number;
};

/**
 * Opens one TLS connection as requests would, and closes it: with the same trust, and nothing is sent on it.
 *
 * Rejects with Node's error where it can't be opened or is not trusted.
 */
export function shakeHands(
	{ host, port }: { readonly host: string; readonly port: number },
	ca: readonly string[],
	signal: AbortSignal,
): Promise<Handshake> {
	return new Promise((resolve, reject) => {
		const socket = connect({
			host,
			port,
			// An address has no server name, says the standard.
			...(isIP(host) === 0 ? { servername: host } : {}),
			ALPNProtocols: ["http/1.1"],
			...tlsOptions(ca),
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
		// Kept to the end: a connection that is destroyed may still fail.
		socket.on("error", reject);
		socket.once("close", () => {
			signal.removeEventListener("abort", stop);
			reject(new Error("the connection was closed during the TLS handshake"));
		});
	});
}

function issuerOf({ issuer }: PeerCertificate): string {
	// Node's types promise texts; a name that is there twice is a list.
	const names: unknown[] = [issuer.CN, issuer.O, issuer.OU];
	return (
		names
			.flat()
			.find((name) => typeof name === "string" && name !== "")
			?.toString() ?? "an unnamed authority"
	);
}
