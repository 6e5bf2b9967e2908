import { X509Certificate } from "node:crypto";
import { type CliError, reason, usageError } from "../errors.ts";
import { readInput } from "../input-file.ts";
import type { Setting } from "./types.ts";

const CERTIFICATE =
	/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** 16 MiB: a bundle of all authorities that browsers trust has half a MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file of certificates (PEM). Each is parsed now, so that a broken one is refused before the first request. */
export async function readCertificates({ value: path, origin }: Setting<string>): Promise<string> {
	const broken = (what: string, cause?: unknown): CliError =>
		usageError(
			`the certificate file of ${origin}, ${path}, ${what}`,
			"It must hold certificates as text, each between BEGIN CERTIFICATE and END CERTIFICATE.",
			cause,
		);
	let text: string;
	try {
		text = (await readInput(path, MAX_BYTES)).toString("utf8");
	} catch (error) {
		throw broken(`cannot be read: ${reason(error)}`, error);
	}
	const found = text.match(CERTIFICATE) ?? [];
	if (found.length === 0) throw broken("holds no certificate");
	found.forEach((certificate, index) => {
		try {
			// The constructor throws for a broken certificate.
			void new X509Certificate(certificate);
		} catch (error) {
			throw broken(`has a certificate that cannot be read, number ${index + 1}`, error);
		}
	});
	return text;
}
