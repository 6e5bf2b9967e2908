import { describe, expect, it } from "vitest";
import { createPreflight } from "../../src/rest/preflight.ts";
import { routeTo } from "../../src/rest/proxy.ts";
import { hasOpenssl, selfSigned, unlessSkipped } from "../support/certificate.ts";
import { listen } from "../support/listen.ts";
import { ragflow } from "../support/ragflow.ts";
import { Cleanup, rawServer } from "./raw-server.ts";

type Reach = ReturnType<typeof createPreflight>;
const reach = (
	baseUrl: string,
	{
		env = {},
		ca = [],
		timeout = 5_000,
		signal = new AbortController().signal,
	}: Partial<{
		env: Record<string, string>;
		ca: string[];
		timeout: number;
		signal: AbortSignal;
	}> = {},
): Reach => createPreflight({ baseUrl, env, ca: async () => ca, signal, timeout });

describe("the variable that chooses the proxy is named as it is written", () => {
	it.each([
		["https://h", { HTTPS_PROXY: "http://p:1" }, { kind: "proxy", uri: "http://p:1", variable: "HTTPS_PROXY" }],
		[
			"http://h",
			{ http_proxy: "p:1", HTTP_PROXY: "q:2" },
			{ kind: "proxy", uri: "http://p:1", variable: "http_proxy" },
		],
		["http://h", { http_proxy: "p:1", NO_PROXY: "h" }, { kind: "direct", why: "exempt", variable: "NO_PROXY" }],
		["http://h", { http_proxy: "p:1", no_proxy: "*" }, { kind: "direct", why: "exempt", variable: "no_proxy" }],
		["http://127.0.0.1", { http_proxy: "p:1" }, { kind: "direct", why: "loopback", variable: undefined }],
		["http://h", { https_proxy: "p:1", NO_PROXY: "h" }, { kind: "direct", why: "unset", variable: undefined }],
	])("%s with %j", (url, env, route) => {
		expect(routeTo(url, env)).toEqual(route);
	});

	it("the password of a proxy's address is not shown", () => {
		const route = reach("https://h/api/v1", { env: { HTTPS_PROXY: "http://user:SECRET@proxy.example:3128" } }).route();
		expect(route).toMatchObject({ kind: "proxy", address: "proxy.example:3128", host: { name: "proxy.example" } });
		expect(JSON.stringify(route)).not.toMatch(/SECRET|user/);
	});
});

describe("names", () => {
	it("a host has the addresses that this machine's resolver gives it", async () => {
		const found = await reach("http://localhost:1").lookUp("localhost");
		expect(Array.isArray(found) && found.every((address) => ["127.0.0.1", "::1"].includes(address))).toBe(true);
	});

	it("an unknown host is a result, not an exception", async () => {
		const found = await reach("http://h").lookUp("nosuch.invalid");
		// A machine without a network gives the second one.
		expect(found instanceof Error && found.code).toMatch(/^(HOST_NOT_FOUND|HOST_LOOKUP_FAILED)$/);
	});

	it.each([
		["http://[::1]:9380/api/v1", { name: "::1", isLiteral: true }, true],
		["http://10.0.0.1/api/v1", { name: "10.0.0.1", isLiteral: true }, false],
		["https://rag.example.com/api/v1", { name: "rag.example.com", isLiteral: false }, false],
	])("%s", (url, host, isLoopback) => {
		expect(reach(url)).toMatchObject({ host, isLoopback });
	});
});

describe("TLS", () => {
	it.skipIf(!hasOpenssl)(
		`a certificate of a private authority is refused, and accepted with --ca-file${unlessSkipped}`,
		async () => {
			const certificate = await selfSigned({ days: 5 });
			const server = await listen(ragflow(), certificate);
			const refused = await reach(server.url).shakeHands();
			expect(refused).toMatchObject({ kind: "untrusted", code: "TLS_UNTRUSTED" });
			const trusted = await reach(server.url, { ca: [certificate.cert] }).shakeHands();
			expect(trusted).toMatchObject({ issuer: "localhost", protocol: expect.stringMatching(/^TLSv1\.[23]$/) });
			const left = trusted instanceof Error ? 0 : trusted.expires - Date.now();
			expect(left / 86_400_000).toBeCloseTo(5, 1);
			// Only looked at: the key must not travel before its certificate was judged.
			expect(server.requests).toEqual([]);
		},
	);

	it.skipIf(!hasOpenssl)(`a certificate of another host is refused, and says so${unlessSkipped}`, async () => {
		const certificate = await selfSigned({ name: "other.example" });
		const server = await listen(ragflow(), certificate);
		const found = await reach(server.url, { ca: [certificate.cert] }).shakeHands();
		expect(found).toMatchObject({ kind: "untrusted", code: "TLS_OTHER_HOST" });
	});

	it("a port that speaks plain http is distinguished from a closed one", async () => {
		const server = await listen(ragflow());
		const plain = await reach(`https://127.0.0.1:${server.port}`).shakeHands();
		expect(plain).toMatchObject({ kind: "not_the_api", code: "NOT_TLS" });
		const refused = await reach("https://127.0.0.1:1").shakeHands();
		expect(refused).toMatchObject({ kind: "not_sent", code: "CONNECTION_REFUSED" });
	});

	it("a silent server ends with the timeout, and a stop ends it at once", async () => {
		const cleanup = new Cleanup();
		const server = cleanup.add(await rawServer(() => undefined));
		const url = `https://127.0.0.1:${server.port}`;
		expect(await reach(url, { timeout: 50 }).shakeHands()).toMatchObject({ code: "TIMEOUT" });
		const stopping = new AbortController();
		const looking = reach(url, { signal: stopping.signal }).shakeHands();
		const stop = new Error("the user asked to stop");
		stopping.abort(stop);
		await expect(looking).rejects.toBe(stop);
		await cleanup.run();
	});
});
