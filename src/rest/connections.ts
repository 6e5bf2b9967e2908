import type { Pool as UndiciPool } from "undici";
import { Clients, type ClientsOptions } from "./clients.ts";
import type { Reservable } from "./reservation.ts";

export type ConnectionOptions = {
	readonly origin: string;
	/** the most connections at a time */
	readonly connections: number;
	/** of one attempt, in milliseconds */
	readonly timeout: number;
	/** further trusted certificates, PEM */
	readonly ca?: readonly string[] | undefined;
	readonly proxy?: { readonly uri: string; readonly token?: string } | undefined;
	/** called right before the first connection is opened */
	readonly beforeConnecting?: (() => void) | undefined;
	/** called where an answer came that no request had waited for: earlier answers may belong to other requests */
	readonly onSurplusAnswer?: (() => void) | undefined;
};

/** Takes requests, and says what a proxy needs in each. */
export type Connections = {
	readonly dispatcher: Pick<Clients, "dispatch" | "close" | "destroy"> & Partial<Reservable>;
	/** text before each path: a proxy without a tunnel gets the whole address */
	readonly prefix: string;
	readonly headers: readonly string[];
};

/** What a TLS connection trusts, and the milliseconds that it may take to open. */
type Trust = { readonly timeout: number; readonly rejectUnauthorized: true; readonly ca?: string[] };

/** 10 s at most for the TCP and the TLS handshake together. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** 3 s: servers close idle connections from 4 s on, and one request a second still finds its connection open. */
const KEEP_ALIVE_MS = 3_000;

/** Opens no connection yet: requests open connections as they need them. */
export function connect(options: ConnectionOptions): Connections | Promise<Connections> {
	const { origin, proxy } = options;
	if (proxy === undefined) return direct(options, origin, { prefix: "", headers: [] });
	if (origin.startsWith("https:")) return tunnel(options, proxy);
	const url = new URL(proxy.uri);
	const token = tokenOf(url, proxy.token);
	const headers = ["host", new URL(origin).host, ...(token === undefined ? [] : ["proxy-authorization", token])];
	return direct(options, url.origin, { prefix: origin, headers });
}

/** Connections to the service, or to a proxy without a tunnel. Only those that need TLS load its code. */
function direct(
	options: ConnectionOptions,
	origin: string,
	about: Omit<Connections, "dispatcher">,
): Connections | Promise<Connections> {
	if (!origin.startsWith("https:")) return { dispatcher: new Clients(origin, clientsOptions(options)), ...about };
	return trustOf(options).then((trust) => ({
		dispatcher: new Clients(origin, { ...clientsOptions(options), connect: trust }),
		...about,
	}));
}

async function trustOf(options: ConnectionOptions): Promise<Trust> {
	const { tlsOptions } = await import("./trust.ts");
	return { timeout: connectTimeout(options), ...tlsOptions(options.ca) };
}

/** Milliseconds. A reserved connection is opened before its request is sent, so the request's own timeout does not run yet. */
function connectTimeout({ timeout }: ConnectionOptions): number {
	return Math.min(CONNECT_TIMEOUT_MS, timeout);
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
	const trust = await trustOf(options);
	const dispatcher = new ProxyAgent({
		uri: url.origin,
		...(token === undefined ? {} : { token }),
		requestTls: trust,
		proxyTls: trust,
		factory: (origin, { connect: open }: UndiciPool.Options) =>
			new AnyPool(origin, { ...clientsOptions(options), connect: open ?? trust }),
	});
	return { dispatcher, prefix: "", headers: [] };
}

function clientsOptions(options: ConnectionOptions): ClientsOptions {
	return {
		connections: options.connections,
		beforeConnecting: options.beforeConnecting,
		onSurplusAnswer: options.onSurplusAnswer,
		pipelining: 1,
		headersTimeout: options.timeout,
		bodyTimeout: options.timeout,
		keepAliveTimeout: KEEP_ALIVE_MS,
		// A server's hint may shorten this, never lengthen it.
		keepAliveMaxTimeout: KEEP_ALIVE_MS,
		connect: { timeout: connectTimeout(options) },
	};
}

function tokenOf(url: URL, token: string | undefined): string | undefined {
	if (token !== undefined) return token;
	if (url.username === "" && url.password === "") return undefined;
	const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
	return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
