import * as tls from "node:tls";
import type { Dispatcher, Pool as UndiciPool } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";

export type ConnectionOptions = {
	readonly origin: string;
	/** connections at most */
	readonly connections: number;
	/** of one attempt, in milliseconds */
	readonly timeout: number;
	/** further trusted certificates, PEM */
	readonly ca?: readonly string[] | undefined;
	readonly proxy?: { readonly uri: string; readonly token?: string } | undefined;
};

/** Where requests are handed in, and what a proxy needs in them. */
export type Connections = {
	readonly dispatcher: Dispatcher;
	/** goes before each path: a plain proxy is told the whole address */
	readonly prefix: string;
	readonly headers: readonly string[];
};

/** For the TCP and the TLS handshake together. */
export const connectTimeout = 10_000;

/** Servers close idle connections from 4 s on; at one request a second they are still used again. */
const keepAlive = 3_000;

/** Opens nothing yet: connections are made as requests need them. */
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
	// The whole of undici takes a while to load, and few runs go through a proxy.
	const {
		// A bundle gives a CommonJS package that is loaded later as its default export alone.
		default: { Pool: AnyPool, ProxyAgent },
	} = await import("undici");
	const url = new URL(proxy.uri);
	const token = tokenOf(url, proxy.token);
	const trust = { timeout: connectTimeout, ...tlsOptions(options.ca) };
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
		keepAliveTimeout: keepAlive,
		// A server's hint may shorten this, never lengthen it.
		keepAliveMaxTimeout: keepAlive,
		connect: { timeout: connectTimeout, ...tlsOptions(options.ca) },
	};
}

/** Whom a TLS connection trusts: the system, and the further certificates that were given. */
export function tlsOptions(ca: readonly string[] | undefined): { rejectUnauthorized: true; ca?: string[] } {
	// Said out loud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
	if (ca === undefined || ca.length === 0) return { rejectUnauthorized: true };
	return { rejectUnauthorized: true, ca: [...systemCertificates(), ...ca] };
}

/** Node replaces its certificates by those given; here they are further ones. */
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
