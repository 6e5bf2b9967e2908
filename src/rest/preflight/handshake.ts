import { isIP } from "node:net";
import { connect, type PeerCertificate } from "node:tls";
import { tlsOptions } from "../connections.ts";

/** What a service shows of itself when a TLS connection is opened, its certificate being trusted. */
export type Handshake = {
	/** as in `TLSv1.3` */
	readonly protocol: string;
	/** the name of the authority that vouches for the certificate */
	readonly issuer: string;
	/** when the certificate ends, in epoch milliseconds */
	readonly expires: number;
};

/**
 * Opens one TLS connection as requests would, and closes it: with the same trust, and nothing is sent on it.
 *
 * Rejects with Node's error where it can't be opened or is not trusted.
 */
export function shakeHands(
	{ host, port }: { readonly host: string; readonly port: number },
	ca: readonly string[],
	signal: AbortSignal,
): Promise<Handshake> {
	return new Promise((resolve, reject) => {
		const socket = connect({
			host,
			port,
			// An address has no server name, says the standard.
			...(isIP(host) === 0 ? { servername: host } : {}),
			ALPNProtocols: ["http/1.1"],
			...tlsOptions(ca),
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
		// Kept to the end: a connection that is destroyed may still fail.
		socket.on("error", reject);
		socket.once("close", () => {
			signal.removeEventListener("abort", stop);
			reject(new Error("the connection was closed during the TLS handshake"));
		});
	});
}

function issuerOf({ issuer }: PeerCertificate): string {
	// Node's types promise texts; a name that is there twice is a list.
	const names: unknown[] = [issuer.CN, issuer.O, issuer.OU];
	return (
		names
			.flat()
			.find((name) => typeof name === "string" && name !== "")
			?.toString() ?? "an unnamed authority"
	);
}
