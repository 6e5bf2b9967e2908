import { describe, expect, test } from "vitest";
import { CliError, Exit } from "../../src/errors.ts";
import { checkKey, normaliseBaseUrl, proxyFor } from "../../src/rest/index.ts";

function refused(act: () => unknown): CliError {
	try {
		act();
	} catch (error) {
		if (error instanceof CliError) return error;
		throw error;
	}
	throw new Error("it was accepted");
}

describe("the base URL", () => {
	test.each([
		["https://host", "https://host/api/v1"],
		["https://host/", "https://host/api/v1"],
		["https://host/api/v1", "https://host/api/v1"],
		["https://host/api/v1///", "https://host/api/v1"],
		["  http://HOST:9380/rag/  ", "http://host:9380/rag/api/v1"],
		["http://host:80/rag/api/v1/", "http://host/rag/api/v1"],
		["http://[::1]:8080", "http://[::1]:8080/api/v1"],
		["http://host/a/../b", "http://host/b/api/v1"],
		["HTTPS://host/api", "https://host/api/v1"],
		["https://host/rag/api/", "https://host/rag/api/v1"],
		["https://host/api/api/v1", "https://host/api/api/v1"],
	])("%s is understood", (typed, url) => {
		expect(normaliseBaseUrl(typed)).toBe(url);
		expect(normaliseBaseUrl(url)).toBe(url);
	});

	test.each([
		"",
		"host",
		"host:9380",
		"ftp://host",
		"file:///x",
		"http:/host",
		"http://",
		"javascript:1",
		"http://ho st",
		"http://h\\x",
		"http://h\tx",
		"http://h?",
		"http://h/?q=1",
		"http://h#",
		"http://h/#f",
		"http://a//b",
		"http://h//x",
		"http://h:99999",
		"http://user:SECRET@h",
		"http://SECRET@h",
		"http://:SECRET@h",
		"http://@h",
		"http://[SECRET",
		"SECRET",
	])("%j is refused before anything is sent, without repeating it", (typed) => {
		const error = refused(() => normaliseBaseUrl(typed));
		expect(error.exit).toBe(Exit.usage);
		expect(error.hint).toBeDefined();
		expect(`${error.message} ${error.hint} ${String(error.cause)}`).not.toContain("SECRET");
	});
});

describe("the key", () => {
	test("one closing line break is not part of it", () => {
		expect(checkKey("ragflow-abc\n")).toBe("ragflow-abc");
		expect(checkKey("ragflow-abc\r\n")).toBe("ragflow-abc");
		expect(checkKey("~!")).toBe("~!");
	});

	const middles = ["\n", " ", "\t", "\0", "\x7f", "é", "\u200b", "\r ", "\x1b[0m", "\n\n"];
	test.each(middles)("one with %j inside is refused without showing any of it", (middle) => {
		for (const text of [`SECRET1${middle}SECRET2`, `${middle}SECRET1`, `SECRET1${middle}\n`]) {
			const error = refused(() => checkKey(text));
			expect(error.exit).toBe(Exit.usage);
			expect(`${error.message}${error.hint}`).not.toMatch(/SECRET/);
		}
	});

	test.each(["", "\n", "\r\n"])("%j is no key", (text) => {
		expect(refused(() => checkKey(text)).exit).toBe(Exit.usage);
	});
});

describe("the proxy", () => {
	const all = { http_proxy: "http://plain:1", https_proxy: "http://secure:2" };

	test.each([
		["http://h/api/v1", all, "http://plain:1"],
		["https://h/api/v1", all, "http://secure:2"],
		["https://h", { HTTPS_PROXY: "http://upper:3" }, "http://upper:3"],
		["http://h", { HTTP_PROXY: "upper:3" }, "http://upper:3"],
		["https://h", { https_proxy: "http://lower:1", HTTPS_PROXY: "http://upper:3" }, "http://lower:1"],
		["https://h", { https_proxy: "", HTTPS_PROXY: "http://upper:3" }, undefined],
		["https://h", { http_proxy: "http://plain:1" }, undefined],
		["https://h", {}, undefined],
	])("%s with %j goes through %s", (url, env, proxy) => {
		expect(proxyFor(url, env)).toBe(proxy);
	});

	test.each([
		"http://localhost:1",
		"http://127.0.0.1",
		"http://127.9.9.9:8",
		"http://[::1]:9",
		"http://LOCALHOST.",
		"https://a.localhost",
	])("%s is this machine: the key goes to no proxy", (url) => {
		expect(proxyFor(url, all)).toBeUndefined();
	});

	test.each([
		["*", "http://any.example"],
		["a, example.com", "http://example.com"],
		["a example.com", "http://deep.sub.example.com"],
		[".example.com", "http://example.com"],
		[".example.com", "http://x.example.com"],
		["*.example.com", "http://x.example.com"],
		["EXAMPLE.com", "http://x.Example.COM."],
		["example.com.", "http://example.com"],
		["example.com:80", "http://example.com"],
		["example.com:8080", "http://example.com:8080"],
		["10.1.2.3", "http://10.1.2.3:9380"],
		["10.0.0.0/8", "http://10.1.2.3"],
		["fd00::1", "http://[fd00::1]:99"],
		["[fd00::1]:99", "http://[fd00::1]:99"],
		["fd00::/8", "http://[fd00::1]"],
	])("NO_PROXY=%s spares %s", (list, url) => {
		expect(proxyFor(url, { ...all, no_proxy: list })).toBeUndefined();
		expect(proxyFor(url, { ...all, NO_PROXY: list })).toBeUndefined();
	});

	test.each([
		["", "http://example.com"],
		[",,", "http://example.com"],
		[".", "http://example.com"],
		["ample.com", "http://example.com"],
		["example.com:81", "http://example.com"],
		["x.example.com", "http://example.com"],
		["2.3", "http://10.1.2.3"],
		["10.0.0.0/33", "http://10.1.2.3"],
		["11.0.0.0/8", "http://10.1.2.3"],
		["a/8", "http://10.1.2.3"],
	])("NO_PROXY=%s does not spare %s", (list, url) => {
		expect(proxyFor(url, { ...all, no_proxy: list })).toBe("http://plain:1");
	});

	test.each(["socks5://user:SECRET@h:1", "http://user:SECRET@", "http://[SECRET"])(
		"%s is refused without showing its password",
		(proxy) => {
			const error = refused(() => proxyFor("http://h", { http_proxy: proxy }));
			expect(error.exit).toBe(Exit.usage);
			expect(`${error.message}${error.hint}`).not.toContain("SECRET");
		},
	);
});
