import { X509Certificate } from "node:crypto";
import { CliError, Exit, reason } from "../errors.ts";
import { readInput } from "../input-file.ts";
import type { Setting } from "./types.ts";

const CERTIFICATE =
	/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** 16 MiB: the bundle of every authority that browsers trust has half of one. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The text of a file of certificates (PEM). Every one is parsed now: a broken one would fail at the first request. */
export async function readCertificates({ value: path, origin }: Setting<string>): Promise<string> {
	const broken = (what: string, cause?: unknown): CliError =>
		new CliError(`the certificate file of ${origin}, ${path}, ${what}`, {
			exit: Exit.usage,
			hint: "It must hold certificates as text, each between BEGIN CERTIFICATE and END CERTIFICATE.",
			cause,
		});
	let text: string;
	try {
		text = (await readInput(path, MOST_BYTES)).toString("utf8");
	} catch (error) {
		throw broken(`cannot be read: ${reason(error)}`, error);
	}
	const found = text.match(CERTIFICATE) ?? [];
	if (found.length === 0) throw broken("holds no certificate");
	found.forEach((certificate, index) => {
		try {
			// The constructor is the check.
			void new X509Certificate(certificate);
		} catch (error) {
			throw broken(`has a certificate that cannot be read, number ${index + 1}`, error);
		}
	});
	return text;
}
