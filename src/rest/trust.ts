import * as tls from "node:tls";

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
