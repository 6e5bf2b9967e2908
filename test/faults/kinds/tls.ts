import { mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import { expect } from "vitest";
import { program } from "../../support/program.ts";
import { envOf } from "../../support/ragtag.ts";
import { type Certificate, selfSigned } from "../../support/certificate.ts";
import { folder, KEY } from "../../support/service.ts";
import { at, summaryOf } from "../../support/values.ts";
import { expired, strangers } from "../rig/certificates.ts";
import { manifestOf, ownService, serviceOf, stateOf, trial, withoutKeyIn } from "../rig/trial.ts";
import { listening, wayTo } from "../rig/ways.ts";
import { section } from "../table.ts";
import { DATASET, nowhere } from "./network.ts";

/** A run against a certificate that is not to be trusted: the sandbox behind it never hears of it. */
async function refused(certificate: Certificate, trusted: boolean, name: RegExp, host = "127.0.0.1"): Promise<void> {
	const { sandbox, control } = await serviceOf("documented");
	control.reset();
	const way = await wayTo(sandbox.port, certificate);
	const args = trusted ? ["--ca-file", certificate.path] : [];
	const started = performance.now();
	const stderr = await nowhere(`https://${host}:${way.port}`, 4, { args });
	expect(stderr).toMatch(name);
	// It helps only where the authority is not known.
	expect(stderr.includes("--ca-file")).toBe(!trusted);
	expect(control.counts()).toMatchObject({ requests: 0, applied: 0 });
	// Told at once: a certificate is not tried again.
	expect(performance.now() - started).toBeLessThan(15_000);
}

const secure = async (options: TlsOptions = {}): Promise<TlsOptions & { readonly path: string }> => ({
	...(await selfSigned()),
	...options,
});

export const tls = section("none", (test) => {
	test("T1 openssl: neither key nor row goes to a server whose certificate ran out", async () =>
		refused(await expired(), true, /CERT_HAS_EXPIRED/));
	test("T2 openssl: neither key nor row goes to a server with the certificate of another host", async () =>
		refused(await selfSigned({ name: "other.test" }), true, /ERR_TLS_CERT_ALTNAME_INVALID/));
	test("T3 quick openssl: neither key nor row goes to a server that vouches for itself, until its certificate is named", async (flavour) => {
		const certificate = await selfSigned();
		await refused(certificate, false, /DEPTH_ZERO_SELF_SIGNED_CERT/);
		const { sandbox } = await serviceOf(flavour);
		const { port } = await wayTo(sandbox.port, certificate);
		const args = ["--ca-file", certificate.path];
		await trial(flavour, { faults: [], exit: 0, url: `https://127.0.0.1:${port}`, args });
	});
	test("T4 openssl: neither key nor row goes to a server of an unknown authority, until that is named", async (flavour) => {
		const certificate = await strangers();
		await refused(certificate, false, /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT/);
		const { sandbox } = await serviceOf(flavour);
		const { port } = await wayTo(sandbox.port, certificate);
		const args = ["--ca-file", certificate.path];
		await trial(flavour, { faults: [], exit: 0, url: `https://localhost:${port}`, args });
	});
	test("T5 openssl: no key is entrusted to TLS 1.1", async () => {
		const old = await secure({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
		const server = createSecureServer(old, (socket) => void socket.end());
		const { port, sockets } = await listening(server);
		const stderr = await nowhere(`https://127.0.0.1:${port}`, 4, { args: ["--ca-file", old.path] });
		expect([stderr, sockets.size]).toEqual([expect.stringContaining("no common TLS version"), 0]);
	});
	test("T6: https to a plain port says so, and sends nothing", async () => {
		const { sandbox, control } = await serviceOf("documented");
		control.reset();
		expect(await nowhere(`https://127.0.0.1:${sandbox.port}`, 6)).toContain("does not speak TLS");
		expect(control.counts().applied).toBe(0);
	});
	test("T7 openssl: http to a TLS port asks whether it is one, and counts nothing", async () => {
		const { port } = await listening(createSecureServer(await secure(), (socket) => void socket.end()));
		const stderr = await nowhere(`http://127.0.0.1:${port}`, 6, { args: ["--max-outage", "1s"] });
		expect(stderr).toMatch(/https port|closed|reset/);
	});
	test("T8: a handshake that hangs is given up", async () => {
		const { port } = await listening(createServer((socket) => void socket.resume()));
		await nowhere(`https://127.0.0.1:${port}`, 6, { args: ["--timeout", "500ms", "--max-outage", "1s"] });
	});
	test("T9 openssl: a handshake that is reset is tried again, and costs no row", async (flavour) => {
		const { port } = await listening(
			createServer((socket) => void socket.once("data", () => socket.resetAndDestroy())),
		);
		await nowhere(`https://127.0.0.1:${port}`, 6, { args: ["--max-outage", "1s"] });
		// The first two connections alone.
		const { sandbox } = await serviceOf(flavour);
		const certificate = await selfSigned();
		const inner = await wayTo(sandbox.port, certificate);
		let met = 0;
		const outer = createServer((socket) => {
			socket.on("error", () => undefined);
			met += 1;
			if (met <= 2) return void socket.once("data", () => socket.resetAndDestroy());
			const through = connect(inner.port, "127.0.0.1").on("error", () => socket.destroy());
			socket.pipe(through).pipe(socket);
		});
		const way = await listening(outer);
		const url = `https://127.0.0.1:${way.port}`;
		await trial(flavour, { faults: [], exit: 0, url, args: ["--ca-file", certificate.path] });
		expect(met).toBeGreaterThan(2);
	});
	test("T10 openssl: a server that wants a certificate of ours ends the run, and every row is pending", async () => {
		const demanding = await secure({ requestCert: true, rejectUnauthorized: true });
		const { port } = await listening(createSecureServer(demanding, (socket) => void socket.end()));
		const state = await stateOf();
		const argv = ["docs", "tag", await manifestOf(10, 1), "-d", DATASET, "--json", "--state-dir", state];
		const flags = ["--ca-file", demanding.path, "--max-outage", "1s"];
		const ended = await program([...argv, ...flags], envOf({ url: `https://127.0.0.1:${port}` }));
		expect([4, 6]).toContain(ended.exit);
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: 10, updated: 0, failed: 0, pending: 10 });
		await withoutKeyIn(ended, state);
	});
	test("T11 openssl: a certificate that turns bad under a run ends it, and what was not sent is pending", async () => {
		const service = await ownService({ latency: 40 });
		const certificate = await selfSigned();
		const way = await wayTo(service.sandbox.port, certificate);
		const { summary } = await trial(service, {
			faults: [],
			rows: 40,
			exit: 4,
			url: `https://127.0.0.1:${way.port}`,
			args: ["--ca-file", certificate.path, "--concurrency", "1"],
			during: async () => {
				const applied = (): number => service.control.counts().applied;
				await expect.poll(applied).toBeGreaterThan(5);
				way.close();
				await wayTo(service.sandbox.port, await selfSigned(), way.port);
			},
		});
		expect(at(summary, "failed")).toBe(0);
		expect(at(summary, "pending")).toBeGreaterThan(0);
	});
	test("T12: a profile that wants https sends nothing over plain http", async () => {
		const { sandbox, control, dataset } = await serviceOf("documented");
		control.reset();
		const home = await folder();
		await mkdir(join(home, "ragtag"));
		const profile = `profiles:\n  strict:\n    base_url: http://rag.invalid\n    require_https: true\n`;
		await writeFile(join(home, "ragtag", "config.yaml"), profile, { mode: 0o600 });
		const state = await stateOf();
		const argv = ["docs", "tag", await manifestOf(3, 1), "-d", dataset, "--profile", "strict", "--state-dir", state];
		const proxy = { http_proxy: sandbox.url };
		const ended = await program(argv, { XDG_CONFIG_HOME: home, RAGTAG_API_KEY: KEY, ...proxy });
		expect([ended.exit, ended.stderr, control.counts().requests]).toEqual([2, expect.stringContaining("https"), 0]);
		await withoutKeyIn(ended, state);
	});
});
