import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "../../support/certificate.ts";
import { folder } from "../../support/service.ts";

const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A certificate of this machine that ran out long ago, and is its own authority. */
export async function expired(): Promise<Certificate> {
	const authority = await folder();
	const [key, path, request] = ["key.pem", "cert.pem", "request.pem"].map((name) => join(authority, name));
	if (key === undefined || path === undefined || request === undefined) throw new Error("no paths");
	const names = join(authority, "names");
	await writeFile(names, "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=critical,CA:TRUE\n");
	run(["req", "-new", ...curve, "-keyout", key, "-out", request, "-subj", "/CN=localhost"]);
	// `x509 -days` takes no less than a day ahead on some releases; `ca` takes dates.
	const settings = join(authority, "ca.cnf");
	await writeFile(join(authority, "index.txt"), "");
	await writeFile(join(authority, "serial"), "01\n");
	const lines = [
		"[ca]",
		"default_ca=here",
		"[here]",
		`dir=${authority}`,
		"database=$dir/index.txt",
		"serial=$dir/serial",
		"new_certs_dir=$dir",
		"default_md=sha256",
		"policy=any",
		"[any]",
		"commonName=supplied",
	];
	await writeFile(settings, `${lines.join("\n")}\n`);
	const dates = ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"];
	const self = ["-selfsign", "-keyfile", key, "-in", request, "-out", path, "-extfile", names, "-notext", "-batch"];
	run(["ca", "-config", settings, ...dates, ...self]);
	return { key: await readFile(key, "utf8"), cert: await readFile(path, "utf8"), path, keyPath: key };
}

/** A certificate of this machine, signed by an authority that nobody knows; without the authority's own. */
export async function strangers(): Promise<Certificate> {
	const at = await folder();
	const file = (name: string): string => join(at, name);
	run([
		"req",
		"-x509",
		...curve,
		"-keyout",
		file("ca.key"),
		"-out",
		file("ca.pem"),
		"-days",
		"30",
		"-subj",
		"/CN=Nobody's",
	]);
	run(["req", "-new", ...curve, "-keyout", file("key.pem"), "-out", file("request.pem"), "-subj", "/CN=localhost"]);
	await writeFile(file("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
	const by = [
		"-CA",
		file("ca.pem"),
		"-CAkey",
		file("ca.key"),
		"-CAcreateserial",
		"-extfile",
		file("names"),
		"-days",
		"30",
	];
	run(["x509", "-req", "-in", file("request.pem"), "-out", file("cert.pem"), ...by]);
	return {
		key: await readFile(file("key.pem"), "utf8"),
		cert: await readFile(file("cert.pem"), "utf8"),
		path: file("ca.pem"),
		keyPath: file("key.pem"),
	};
}

function run(argv: readonly string[]): void {
	execFileSync("openssl", argv, { stdio: ["ignore", "ignore", "pipe"] });
}
