import * as tls from "node:tls";
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
	readonly proxy?: { readonly uri: string; readonly token?: string } | undefined;
};

/** Takes requests, and says what a proxy needs in each. */
export type Connections = {
	readonly dispatcher: Dispatcher;
	/** text before each path: a proxy without a tunnel gets the whole address */
	readonly prefix: string;
	readonly headers: readonly string[];
};

/** 10 s for the TCP and the TLS handshake together. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** 3 s: servers close idle connections from 4 s on, and one request a second still finds its connection open. */
const KEEP_ALIVE_MS = 3_000;

/** Opens no connection yet: requests open connections as they need them. */
export function connect(options: ConnectionOptions): Connections | Promise<Connections> {
	const { origin, proxy } = options;
	if (proxy === undefined) return { dispatcher: new Pool(origin, poolOptions(options)), prefix: "", headers: [] };
	if (origin.startsWith("https:")) return tunnel(options, proxy);
	const url = new URL(proxy.uri);
	const token = tokenOf(url, proxy.token);
	return {
		dispatcher: new Pool(url.origin, poolOptions(options)),
		prefix: origin,
		headers: ["host", new URL(origin).host, ...(token === undefined ? [] : ["proxy-authorization", token])],
	};
}

/** A tunnel through the proxy, so that it sees neither key nor metadata. */
async function tunnel(
	options: ConnectionOptions,
	proxy: { readonly uri: string; readonly token?: string },
): Promise<Connections> {
	// All of undici takes a while to load, and few runs use a proxy.
	const {
		// In a bundle, a CommonJS package that is imported late has a default export alone.
		default: { Pool: AnyPool, ProxyAgent },
	} = await import("undici");
	const url = new URL(proxy.uri);
	const token = tokenOf(url, proxy.token);
	const trust = { timeout: CONNECT_TIMEOUT_MS, ...tlsOptions(options.ca) };
	const dispatcher = new ProxyAgent({
		uri: url.origin,
		...(token === undefined ? {} : { token }),
		requestTls: trust,
		proxyTls: trust,
		factory: (origin, { connect: open }: UndiciPool.Options) =>
			new AnyPool(origin, { ...poolOptions(options), ...(open === undefined ? {} : { connect: open }) }),
	});
	return { dispatcher, prefix: "", headers: [] };
}

function poolOptions(options: ConnectionOptions): UndiciPool.Options {
	return {
		connections: options.connections,
		pipelining: 1,
		headersTimeout: options.timeout,
		bodyTimeout: options.timeout,
		keepAliveTimeout: KEEP_ALIVE_MS,
		// A server's hint may shorten this, never lengthen it.
		keepAliveMaxTimeout: KEEP_ALIVE_MS,
		connect: { timeout: CONNECT_TIMEOUT_MS, ...tlsOptions(options.ca) },
	};
}

/** The certificates that a TLS connection trusts: those of the system, and the given ones. */
export function tlsOptions(ca: readonly string[] | undefined): { rejectUnauthorized: true; ca?: string[] } {
	// Set here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
	if (ca === undefined || ca.length === 0) return { rejectUnauthorized: true };
	return { rejectUnauthorized: true, ca: [...systemCertificates(), ...ca] };
}

/** The certificates that Node trusts by itself. The option `ca` replaces them, so they are added to it. */
function systemCertificates(): readonly string[] {
	// From Node 22.15 on this includes those of NODE_EXTRA_CA_CERTS.
	const get: unknown = Reflect.get(tls, "getCACertificates");
	const found: unknown = typeof get === "function" ? Reflect.apply(get, tls, ["default"]) : tls.rootCertificates;
	return Array.isArray(found) ? found.filter((one) => typeof one === "string") : tls.rootCertificates;
}

function tokenOf(url: URL, token: string | undefined): string | undefined {
	if (token !== undefined) return token;
	if (url.username === "" && url.password === "") return undefined;
	const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
	return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
