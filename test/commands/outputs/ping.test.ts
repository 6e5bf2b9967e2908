import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY, profilesIn, serve, type Service } from "../../support/service.ts";
import { listen } from "../../support/listen.ts";

type Seen = { readonly what: string; readonly body: string; readonly headers: IncomingHttpHeaders };

/** A monitor that answers with a status. The path of its address is a secret. */
async function monitor(status = 200): Promise<{ url: string; host: string; seen: Seen[] }> {
	const seen: Seen[] = [];
	const { url, port } = await listen((request, response) => {
		let body = "";
		request.setEncoding("utf8").on("data", (text: string) => (body += text));
		request.on("end", () => {
			seen.push({ what: `${request.method} ${request.url}`, body, headers: request.headers });
			response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("OK");
		});
	});
	return { url: `${url}/s3cr3t-path`, host: `127.0.0.1:${port}`, seen };
}

async function world(): Promise<{ service: Service; argv: string[] }> {
	const service = await serve(2);
	const [id = ""] = await service.ids();
	const manifest = await file("tags.csv", `document_id,author\n${id},Bob\n`);
	return { service, argv: ["docs", "tag", manifest, "-d", service.dataset] };
}

describe("--ping", () => {
	it("leaves the run its certificates, which may come from a pipe", async () => {
		const { service, argv } = await world();
		const { url, seen } = await monitor();
		const pipe = join(await folder(), "ca.pem");
		execFileSync("mkfifo", [pipe]);
		void writeFile(pipe, rootCertificates[0] ?? "");
		const { exit } = await ragtag([...argv, "--ping", url, "--ca-file", pipe], { env: envOf(service) });
		expect(exit).toBe(0);
		expect(seen).toHaveLength(2);
	});

	it("tells a monitor that the run begins, and how it ended, with the summary and without the key", async () => {
		const { service, argv } = await world();
		const { url, seen } = await monitor();
		const { exit, stderr } = await ragtag([...argv, "--ping", url, "--debug"], { env: envOf(service) });
		expect(exit).toBe(0);
		expect(seen.map(({ what }) => what)).toEqual(["GET /s3cr3t-path/start", "POST /s3cr3t-path/0"]);
		expect(seen[1]?.body).toMatch(/^ragtag docs tag .*tags\.csv: exit code 0\n1 row: 1 updated in /);
		for (const { headers, body } of seen) {
			expect(headers.authorization).toBeUndefined();
			expect(JSON.stringify(headers) + body).not.toContain(KEY.slice(10));
		}
		expect(stderr).not.toContain("s3cr3t");
	});

	it("reports the code of every early end", async () => {
		const { service, argv } = await world();
		const { url, seen } = await monitor();
		const codes = async (more: readonly string[], env: Record<string, string>): Promise<string[]> => {
			seen.length = 0;
			await ragtag([...argv, "--ping", `${url}/?create=1`, ...more], { env });
			return seen.map(({ what }) => what.replace("/s3cr3t-path", ""));
		};
		expect(await codes([], {})).toEqual(["GET /start?create=1", "POST /2?create=1"]);
		expect(await codes(["--ratte"], {})).toEqual(["GET /start?create=1", "POST /2?create=1"]);
		const wrong = { ...envOf(service), RAGTAG_API_KEY: "ragflow-wrong0123456789" };
		expect(await codes([], wrong)).toEqual(["GET /start?create=1", "POST /4?create=1"]);
	});

	it("does not report a night that only ran out of its time as failed, unless a row failed", async () => {
		const service = await serve(40, { latency: 30 });
		const ids = await service.ids();
		const { url, seen } = await monitor();
		let over = 0;
		const isOver = async (): Promise<void> => {
			while (service.requests.length < over) await systemClock.sleep(1);
		};
		const sleep: Clock["sleep"] = (milliseconds, signal) =>
			milliseconds > 3_000_000 ? isOver() : systemClock.sleep(milliseconds, signal);
		const ends = async (rows: readonly string[]): Promise<string[]> => {
			seen.length = 0;
			// Its hour is over when some rows are sent, and not all.
			over = service.requests.length + 20;
			const manifest = await file("tags.csv", `document_id,author\n${rows.map((id) => `${id},Bob\n`).join("")}`);
			const slow = ["--concurrency", "1", "--chunk", "1", "--max-duration", "1h", "--ping", url];
			const argv = ["docs", "tag", manifest, "-d", service.dataset, ...slow];
			await ragtag(argv, { env: envOf(service), clock: { ...systemClock, sleep } });
			return seen.map(({ what }) => what.replace("/s3cr3t-path", ""));
		};
		expect(await ends(ids)).toEqual(["GET /start", "POST /0"]);
		expect(await ends([ids[0] ?? "", "f".repeat(32), ...ids.slice(1)])).toEqual(["GET /start", "POST /1"]);
	});

	it("reports no end of a second start: the run that goes on reports its own, and its metrics stay", async () => {
		const service = await serve(30, { latency: 40 });
		const rows = (await service.ids()).map((id) => `${id},Bob\n`).join("");
		const manifest = await file("tags.csv", `document_id,author\n${rows}`);
		const metrics = await file("ragtag.prom", "of the night before\n");
		const { url, seen } = await monitor();
		const argv = ["docs", "tag", manifest, "-d", service.dataset, "--concurrency", "1", "--chunk", "1", "--ping", url];
		const home = await folder();
		const first = ragtag(argv, { env: envOf(service), home });
		await expect.poll(() => service.requests.length).toBeGreaterThan(6);
		expect((await ragtag([...argv, "--metrics-file", metrics], { env: envOf(service), home })).exit).toBe(5);
		expect(await readFile(metrics, "utf8")).toBe("of the night before\n");
		expect((await first).exit).toBe(0);
		expect(seen.map(({ what }) => what).filter((what) => what.startsWith("POST"))).toEqual(["POST /s3cr3t-path/0"]);
	});

	it.each([
		[404, "answered 404"],
		[302, "answered 302, and redirects are not followed"],
	])("is a note where the monitor answers %i, and the run is what it was", async (status, text) => {
		const { service, argv } = await world();
		const { url, host, seen } = await monitor(status);
		const { exit, stderr } = await ragtag([...argv, "--ping", url], { env: envOf(service) });
		expect(exit).toBe(0);
		expect(seen).toHaveLength(2);
		expect(stderr).toContain(`The ping failed, and the run is not affected: ${host} ${text}`);
		expect(stderr).not.toContain("s3cr3t");
	});

	it("is a note where nothing answers", async () => {
		const { service, argv } = await world();
		const { exit, stderr } = await ragtag([...argv, "--ping", "http://127.0.0.1:9/s3cr3t"], { env: envOf(service) });
		expect(exit).toBe(0);
		expect(stderr).toContain("The ping failed, and the run is not affected: 127.0.0.1:9: the connection was refused");
		expect(stderr).not.toContain("s3cr3t");
	});

	it("is refused without being repeated where it is no address", async () => {
		const { service, argv } = await world();
		for (const url of ["s3cr3t", "ftp://s3cr3t", "http://u:s3cr3t@host/"]) {
			const { exit, stderr } = await ragtag([...argv, "--ping", url], { env: envOf(service) });
			expect(exit).toBe(2);
			expect(stderr).toContain("--ping is no http or https address");
			expect(stderr).not.toContain("s3cr3t");
		}
		expect(service.requests).toEqual([]);
	});

	it("of a profile is told of its runs, and not of a dry run", async () => {
		const { service, argv } = await world();
		const { url, seen } = await monitor();
		const home = await folder();
		await profilesIn(home, `{p: {ping: "${url}"}}`);
		const env = envOf(service);
		expect(await ragtag([...argv, "--profile", "p", "--dry-run"], { env, home })).toMatchObject({ exit: 0 });
		expect(seen).toEqual([]);
		expect(await ragtag([...argv, "--profile", "p"], { env, home })).toMatchObject({ exit: 0 });
		expect(seen.map(({ what }) => what)).toEqual(["GET /s3cr3t-path/start", "POST /s3cr3t-path/0"]);
	});
});
