import { BlockList, isIP } from "node:net";
import { usageError } from "../errors.ts";
import { urlOf } from "../text/urls.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Target = { readonly host: string; readonly port: string };

/**
 * How requests go to the service, and why.
 *
 * `variable` is the environment variable that decided, as it is written there. Undefined if no variable did.
 */
type Route =
	| { readonly kind: "direct"; readonly why: "loopback" | "exempt" | "unset"; readonly variable: string | undefined }
	/** `uri` may contain a password: it is for the connection alone */
	| { readonly kind: "proxy"; readonly uri: string; readonly variable: string };

/** The address of the proxy for requests to `baseUrl`, by `routeTo`. */
export function proxyFor(baseUrl: string, env: Environment): string | undefined {
	const route = routeTo(baseUrl, env);
	return route.kind === "proxy" ? route.uri : undefined;
}

/**
 * The route of requests to `baseUrl`, as curl reads the environment. Lower-case variables go before upper-case ones, and an
 * address without a scheme is http. `NO_PROXY` lists names with their subdomains, ports, networks or `*`. Requests to this
 * machine itself never use a proxy.
 *
 * @throws CliError (usage) if the variable has no http or https address; the message does not repeat its value
 */
export function routeTo(baseUrl: string, env: Environment): Route {
	const url = new URL(baseUrl);
	const proxy = read(env, url.protocol === "https:" ? "https_proxy" : "http_proxy");
	const target = { host: comparableHost(url.hostname), port: url.port || (url.protocol === "https:" ? "443" : "80") };
	if (proxy === undefined) return { kind: "direct", why: "unset", variable: undefined };
	if (isLoopback(target.host)) return { kind: "direct", why: "loopback", variable: undefined };
	const exempt = read(env, "no_proxy");
	if (exempt !== undefined && isExempt(target, exempt.value)) {
		return { kind: "direct", why: "exempt", variable: exempt.variable };
	}
	const uri = proxy.value.includes("://") ? proxy.value : `http://${proxy.value}`;
	if (urlOf(uri) === undefined || !/^https?:\/\//i.test(uri)) {
		throw usageError(
			`${proxy.variable.toUpperCase()} is not the address of an http proxy`,
			"Write it like http://HOST:PORT, or unset it.",
		);
	}
	return { kind: "proxy", uri, variable: proxy.variable };
}

function read(env: Environment, name: string): { readonly value: string; readonly variable: string } | undefined {
	// As in curl, an empty variable turns the proxy off, and the lower-case one wins.
	const variable = env[name] === undefined ? name.toUpperCase() : name;
	const value = env[variable]?.trim();
	return value === undefined || value === "" ? undefined : { value, variable };
}

/** A host in the form in which it is compared: lower case, without brackets and a dot at the end. */
export function comparableHost(host: string): string {
	return host
		.toLowerCase()
		.replace(/^\[|\]$/g, "")
		.replace(/\.$/, "");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a host, in lower case and without brackets, is this machine itself. */
export function isLoopback(host: string): boolean {
	return host === "localhost" || host.endsWith(".localhost") || contains(loopback, host);
}

function isExempt(target: Target, list: string): boolean {
	return list
		.split(/[\s,]+/)
		.filter((entry) => entry !== "")
		.some((entry) => entry === "*" || matches(target, entry.toLowerCase()));
}

function matches(target: Target, entry: string): boolean {
	const [network, bits] = entry.split("/");
	if (network !== undefined && bits !== undefined) return isWithin(target.host, network, bits);
	// An IPv6 address without brackets has many colons. A port follows a bracket, or the only colon.
	const parts = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry);
	if (parts?.[2] !== undefined && parts[2] !== target.port) return false;
	const name = comparableHost(parts?.[1] ?? entry).replace(/^\*?\./, "");
	if (name === "") return false;
	return target.host === name || (isIP(target.host) === 0 && target.host.endsWith(`.${name}`));
}

function isWithin(host: string, network: string, bits: string): boolean {
	const family = isIP(comparableHost(network));
	if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
	const list = new BlockList();
	list.addSubnet(comparableHost(network), Number(bits), family === 4 ? "ipv4" : "ipv6");
	return contains(list, host);
}

function contains(list: BlockList, host: string): boolean {
	const family = isIP(host);
	return family !== 0 && list.check(host, family === 4 ? "ipv4" : "ipv6");
}
