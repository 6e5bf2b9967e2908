import { BlockList, isIP } from "node:net";
import { CliError, Exit } from "../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Target = { readonly host: string; readonly port: string };

/**
 * The address of the proxy that requests to `baseUrl` go through, as curl understands the environment: lower case
 * before upper, an address without a scheme is http, `NO_PROXY` lists names with their subdomains, ports, networks
 * or `*`. This machine itself is never reached through a proxy.
 *
 * @throws CliError (usage) where the variable holds no http or https address; its value is not repeated
 */
export function proxyFor(baseUrl: string, env: Environment): string | undefined {
	const url = new URL(baseUrl);
	const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
	const value = read(env, name);
	const target = { host: bare(url.hostname), port: url.port || (url.protocol === "https:" ? "443" : "80") };
	if (value === undefined || isLoopback(target.host) || isExempt(target, read(env, "no_proxy") ?? "")) return undefined;
	const uri = value.includes("://") ? value : `http://${value}`;
	if (!URL.canParse(uri) || !/^https?:\/\//i.test(uri)) {
		throw new CliError(`${name.toUpperCase()} is not the address of an http proxy`, {
			exit: Exit.usage,
			hint: "write it like http://HOST:PORT, or unset it",
		});
	}
	return uri;
}

function read(env: Environment, name: string): string | undefined {
	// An empty variable switches the proxy off, and the lower-case one wins, as with curl.
	const value = (env[name] ?? env[name.toUpperCase()])?.trim();
	return value === "" ? undefined : value;
}

function bare(host: string): string {
	return host
		.toLowerCase()
		.replace(/^\[|\]$/g, "")
		.replace(/\.$/, "");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
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
	// A lone IPv6 address is full of colons: a port follows only a bracket, or the one colon of a name.
	const parts = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry);
	if (parts?.[2] !== undefined && parts[2] !== target.port) return false;
	const name = bare(parts?.[1] ?? entry).replace(/^\*?\./, "");
	if (name === "") return false;
	return target.host === name || (isIP(target.host) === 0 && target.host.endsWith(`.${name}`));
}

function isWithin(host: string, network: string, bits: string): boolean {
	const family = isIP(bare(network));
	if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
	const list = new BlockList();
	list.addSubnet(bare(network), Number(bits), family === 4 ? "ipv4" : "ipv6");
	return contains(list, host);
}

function contains(list: BlockList, host: string): boolean {
	const family = isIP(host);
	return family !== 0 && list.check(host, family === 4 ? "ipv4" : "ipv6");
}
