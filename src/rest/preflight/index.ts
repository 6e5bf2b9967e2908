import { isIP } from "node:net";
import { errorCode } from "../../errors.ts";
import { classifyFailure, Expired } from "../classify-failure.ts";
import { connectTimeout } from "../connections.ts";
import { bare, isLoopback, type Route, routeTo } from "../proxy.ts";
import type { RestErrorKind } from "../errors.ts";
import { type Handshake, shakeHands } from "./handshake.ts";
import { lookUp } from "./look-up.ts";
import { withTimeout } from "./with-timeout.ts";

export type { Handshake } from "./handshake.ts";

export type ReachOptions = {
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
export type Reach = {
	/** as it is used, `/api/v1` included */
	readonly baseUrl: string;
	readonly host: Host;
	readonly isHttps: boolean;
	/** whether the service is on this machine itself */
	readonly isLoopback: boolean;
	/** @throws CliError (usage) where the variable of the proxy holds no address */
	route(): SafeRoute;
	lookUp(host: string): Promise<Found<readonly string[]>>;
	shakeHands(): Promise<Found<Handshake>>;
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

export type Found<Value> = { readonly value: Value } | { readonly failure: ReachFailure };

/** Why a step failed: one sentence, and the names that scripts and decisions go by. */
export type ReachFailure = {
	readonly kind: RestErrorKind;
	/** as in `HOST_NOT_FOUND`, `TLS_UNTRUSTED` */
	readonly code: string;
	/** Node's own name of it, as in `CERT_HAS_EXPIRED` */
	readonly cause: string | undefined;
	readonly message: string;
};

export function createReach({ baseUrl, env, ca, signal, timeout = connectTimeout }: ReachOptions): Reach {
	const url = new URL(baseUrl);
	const host = hostOf(url);
	const isHttps = url.protocol === "https:";
	const limit = Math.min(timeout, connectTimeout);

	async function look<Value>(place: string, looking: Promise<Value>): Promise<Found<Value>> {
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
