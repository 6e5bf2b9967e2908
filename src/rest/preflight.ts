import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { isIP } from "node:net";
import { connect, type PeerCertificate } from "node:tls";
import { classifyFailure, Expired } from "./classify-failure.ts";
import { CONNECT_TIMEOUT_MS, trusting } from "./connections.ts";
import { RestError } from "./errors.ts";
import { comparableHost, isLoopback, routeTo } from "./proxy.ts";

type PreflightOptions = {
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** further trusted certificates, PEM; called only for a handshake */
	readonly ca: () => Promise<readonly string[]>;
	readonly signal: AbortSignal;
	/** of each step, in milliseconds; never more than a request may take to connect */
	readonly timeout?: number | undefined;
};

/** The way to the service, checked one step at a time. No step sends a key or a request. A failed one gives its error. */
export type Preflight = ReturnType<typeof createPreflight>;

/** A host as the address names it. */
type Host = { readonly name: string; /** an IP address, which needs no look-up */ readonly isLiteral: boolean };

/** A route without the secret parts of a proxy's address. */
export type SafeRoute = ReturnType<Preflight["route"]>;

/** The TLS parameters of a service with a trusted certificate. */
type Handshake = {
	/** as in `TLSv1.3` */
	readonly protocol: string;
	/** the authority that issued the certificate */
	readonly issuer: string;
	/** when the certificate expires, in epoch milliseconds */
	readonly expires: number;
};

export function createPreflight({ baseUrl, env, ca, signal, timeout = CONNECT_TIMEOUT_MS }: PreflightOptions) {
	const url = new URL(baseUrl);
	const host = hostOf(url);
	const limit = Math.min(timeout, CONNECT_TIMEOUT_MS);

	/** Does not wait for its work any longer than that: a look-up can't be cancelled. */
	async function step<Value>(
		subject: string,
		work: (signal: AbortSignal) => Promise<Value>,
	): Promise<Value | RestError> {
		const ended = AbortSignal.any([signal, AbortSignal.timeout(limit)]);
		try {
			signal.throwIfAborted();
			const late = once(ended, "abort").then(() => Promise.reject(new Expired("no answer in time")));
			return await Promise.race([work(ended), late]);
		} catch (error) {
			signal.throwIfAborted();
			const message = `${subject}: no answer within ${limit / 1000} s`;
			if (error instanceof Expired) return new RestError(message, { kind: "not_sent", code: "TIMEOUT" });
			// No key was sent, so no answer can repeat it.
			return classifyFailure(error, false, { host: subject, redact: (text) => text });
		}
	}

	return {
		/** as requests use it, `/api/v1` included */
		baseUrl,
		host,
		isHttps: url.protocol === "https:",
		/** whether the service is on this machine itself */
		isLoopback: isLoopback(host.name),
		/** @throws CliError (usage) if the variable of the proxy has no address */
		route: () => {
			const route = routeTo(baseUrl, env);
			if (route.kind === "direct") return route;
			const proxy = new URL(route.uri);
			return { kind: route.kind, variable: route.variable, address: proxy.host, host: hostOf(proxy) };
		},
		/** Every address of a host, from this machine's own resolver: it reads `/etc/hosts` too, as it does for requests. */
		lookUp: (name: string) => step(name, async () => (await lookup(name, { all: true })).map(({ address }) => address)),
		shakeHands: async () => {
			const trust = await trusting(await ca());
			const port = Number(url.port || 443);
			return step(url.host, (ended) => shakeHands({ host: host.name, port }, trust, ended));
		},
	};
}

function hostOf(url: URL): Host {
	const name = comparableHost(url.hostname);
	return { name, isLiteral: isIP(name) !== 0 };
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
	const name = names.flat().find((each) => typeof each === "string" && each !== "");
	return typeof name === "string" ? name : "an unnamed authority";
}
