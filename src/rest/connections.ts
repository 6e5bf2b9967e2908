import * as nodeModule from "node:module";
import { setFlagsFromString } from "node:v8";
import type { Dispatcher, Pool as UndiciPool } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";

export type ConnectionOptions = {
	readonly origin: string;
	/** the most connections at a time */
	readonly connections: number;
	/** of one attempt, in milliseconds */
	readonly timeout: number;
	/** further trusted certificates, PEM */
	readonly ca?: readonly string[] | undefined;
	/** as `proxyFor` gives it */
	readonly proxy?: string | undefined;
};

/** Takes requests, and says what a proxy needs in each. */
export type Connections = {
	readonly dispatcher: Dispatcher;
	/** text before each path: a proxy without a tunnel gets the whole address */
	readonly prefix: string;
	readonly headers: readonly string[];
};

/** 10 s at most for the TCP and the TLS handshake together. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** 3 s: servers close idle connections from 4 s on, and one request a second still finds its connection open. */
const KEEP_ALIVE_MS = 3_000;

/** Opens no connection yet: requests open connections as they need them. Only those that need TLS load its code. */
export async function connect(options: ConnectionOptions): Promise<Connections> {
	const { origin, proxy } = options;
	compileParserOnce();
	if (proxy === undefined) return direct(options, origin, { prefix: "", headers: [] });
	const url = new URL(proxy);
	const token = tokenOf(url);
	if (origin.startsWith("https:")) return tunnel(options, url.origin, token);
	const headers = ["host", new URL(origin).host, ...(token === undefined ? [] : ["proxy-authorization", token])];
	return direct(options, url.origin, { prefix: origin, headers });
}

/**
 * Node 20 compiles undici's parser twice, and a process of one request waits for the second time until it ends, 75 ms.
 * Later lines, which have a cache for compiled modules, don't wait, and the flag makes them slower.
 */
function compileParserOnce(): void {
	if (!("enableCompileCache" in nodeModule)) setFlagsFromString("--liftoff-only");
}

/** Connections to the service, or to a proxy without a tunnel. */
async function direct(
	options: ConnectionOptions,
	origin: string,
	about: Omit<Connections, "dispatcher">,
): Promise<Connections> {
	const trust = origin.startsWith("https:") ? await trusting(options.ca) : {};
	const connect = { timeout: connectTimeout(options), ...trust };
	return { dispatcher: new Pool(origin, { ...poolOptions(options), connect }), ...about };
}

/** A tunnel through the proxy, so that it sees neither key nor metadata. */
async function tunnel(options: ConnectionOptions, uri: string, token: string | undefined): Promise<Connections> {
	// All of undici takes a while to load, and few runs use a proxy.
	const {
		// In a bundle, a CommonJS package that is imported late has a default export alone.
		default: { Pool: AnyPool, ProxyAgent },
	} = await import("undici");
	const trust = { timeout: connectTimeout(options), ...(await trusting(options.ca)) };
	const dispatcher = new ProxyAgent({
		uri,
		...(token === undefined ? {} : { token }),
		requestTls: trust,
		proxyTls: trust,
		factory: (origin, { connect: open }: UndiciPool.Options) =>
			new AnyPool(origin, { ...poolOptions(options), connect: open ?? trust }),
	});
	return { dispatcher, prefix: "", headers: [] };
}

const connectTimeout = ({ timeout }: ConnectionOptions): number => Math.min(CONNECT_TIMEOUT_MS, timeout);

function poolOptions({ connections, timeout }: ConnectionOptions): UndiciPool.Options {
	return {
		connections,
		pipelining: 1,
		headersTimeout: timeout,
		bodyTimeout: timeout,
		keepAliveTimeout: KEEP_ALIVE_MS,
		// A server's hint may shorten this, never lengthen it.
		keepAliveMaxTimeout: KEEP_ALIVE_MS,
	};
}

type Trust = { readonly rejectUnauthorized: true; readonly ca?: string[] };

/** The certificates that a TLS connection trusts: those of the system, and the given ones. */
export async function trusting(ca: readonly string[] = []): Promise<Trust> {
	// Set here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
	const trust = { rejectUnauthorized: true } as const;
	return ca.length === 0 ? trust : { ...trust, ca: [...(await systemCertificates()), ...ca] };
}

/** The certificates that Node trusts by itself. The option `ca` replaces them, so they are added to it. */
async function systemCertificates(): Promise<readonly string[]> {
	const tls = await import("node:tls");
	// From Node 22.15 on this includes those of NODE_EXTRA_CA_CERTS.
	const get: unknown = Reflect.get(tls, "getCACertificates");
	const found: unknown = typeof get === "function" ? Reflect.apply(get, tls, ["default"]) : tls.rootCertificates;
	return Array.isArray(found) ? found.filter((one) => typeof one === "string") : tls.rootCertificates;
}

function tokenOf({ username, password }: URL): string | undefined {
	if (username === "" && password === "") return undefined;
	const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
	return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
