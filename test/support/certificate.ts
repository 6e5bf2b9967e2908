import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { folder } from "./service.ts";

/** Node can't sign a certificate by itself. */
export const hasOpenssl = ((): boolean => {
	try {
		execFileSync("openssl", ["version"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
})();

/** For the name of a test that needs a certificate. */
export const unlessSkipped = hasOpenssl ? "" : " (skipped: there is no openssl here to make a certificate)";

export type Certificate = {
	readonly key: string;
	readonly cert: string;
	/** path of the certificate, and of its key */
	readonly path: string;
	readonly keyPath: string;
};

/** A self-signed certificate of this machine, made now: one in the repository would end some day. */
export async function selfSigned({ days = 90, name = "localhost" } = {}): Promise<Certificate> {
	const at = await folder();
	const [keyPath, path] = [join(at, "key.pem"), join(at, "cert.pem")];
	const names = name === "localhost" ? "subjectAltName=DNS:localhost,IP:127.0.0.1" : `subjectAltName=DNS:${name}`;
	const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
	const made = ["-keyout", keyPath, "-out", path, "-days", String(days), "-subj", `/CN=${name}/O=Test Authority`];
	execFileSync("openssl", ["req", "-x509", ...curve, ...made, "-addext", names], { stdio: "ignore" });
	return { key: await readFile(keyPath, "utf8"), cert: await readFile(path, "utf8"), path, keyPath };
}
