import { Exit } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";
import type { PreflightResult, Handshake, Preflight, PreflightFailure, SafeRoute } from "../../rest/preflight.ts";
import { show } from "../../text/show.ts";
import { NOT_TLS_HINT, untrustedHint } from "../../run/stop/reasons.ts";
import { skipped, untrustedNext } from "./check-results.ts";

const DAY = 24 * 3600 * 1000;

/** Days. A certificate that ends sooner is a warning, early enough to have it renewed. */
const EXPIRY_WARNING_DAYS = 14;

/** The look-up of names and the TLS handshake, before any request. */
export async function* networkChecks(
	reach: Preflight,
	route: SafeRoute,
	isTrustKnown: boolean,
): AsyncGenerator<Check, void, undefined> {
	const host = route.kind === "proxy" ? route.host : reach.host;
	const whose = route.kind === "proxy" ? "of the proxy " : "";
	if (host.isLiteral) {
		yield skipped("dns", `${host.name} ${whose}is an address, so no name is looked up`);
	} else {
		const found = await reach.lookUp(host.name);
		yield lookUpCheck(host.name, found, route);
		if ("failure" in found) return;
	}
	if (!reach.isHttps) yield plainCheck(reach);
	else if (route.kind === "proxy") {
		yield skipped("tls", `TLS goes through the proxy ${route.address}: the first request shows whether it works`);
	} else if (!isTrustKnown) yield skipped("tls", "not checked, because the trusted certificates could not be read");
	else yield handshakeCheck(reach.baseUrl, await reach.shakeHands(), Date.now());
}

export function plainCheck({ isLoopback }: Pick<Preflight, "isLoopback">): Check {
	const name = "tls";
	if (isLoopback) return skipped(name, "the address is plain http, and requests stay on this machine");
	const text = "the address is plain http: the key and all metadata can be read on the network";
	return { name, status: "warning", text, hint: "Use the https address, if the service has one." };
}

export function lookUpCheck(host: string, found: PreflightResult<readonly string[]>, route: SafeRoute): Check {
	if ("failure" in found) {
		const what = route.kind === "proxy" ? route.variable : "--base-url";
		const hint = `Check the host in ${what}, and this machine's network and name servers.`;
		const next = route.kind === "proxy" ? "ragtag doctor" : "ragtag doctor --base-url URL";
		return { name: "dns", status: "failed", text: found.failure.message, hint, exit: Exit.temporary, next };
	}
	const addresses = found.value.join(", ");
	const rest = route.kind === "proxy" ? "; the name of the service is looked up by the proxy" : "";
	return { name: "dns", status: "ok", text: `${host} is ${addresses}${rest}` };
}

export function handshakeCheck(baseUrl: string, found: PreflightResult<Handshake>, now: number): Check {
	const name = "tls";
	if ("failure" in found) return handshakeFailure(found.failure);
	const { protocol, issuer, expires } = found.value;
	const days = Math.floor((expires - now) / DAY);
	const text = `${protocol}; the certificate is trusted, issued by ${show(issuer)}, and ends in ${days} ${days === 1 ? "day" : "days"}`;
	if (days >= EXPIRY_WARNING_DAYS) return { name, status: "ok", text };
	const { host } = new URL(baseUrl);
	return { name, status: "warning", text, hint: `Ask those who run ${host} to renew it before it ends.` };
}

function handshakeFailure({ kind, code, message }: PreflightFailure): Check {
	const check = { name: "tls", status: "failed", text: message } as const;
	if (kind === "not_the_api") {
		return { ...check, hint: NOT_TLS_HINT, exit: Exit.temporary, next: "ragtag doctor --base-url URL" };
	}
	if (kind !== "untrusted") {
		const hint = "Check that the service is up, and that host and port in --base-url are right.";
		return { ...check, hint, exit: Exit.temporary, next: "ragtag doctor" };
	}
	return { ...check, hint: untrustedHint(code), exit: Exit.untrusted, next: untrustedNext(code) };
}
