import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { proxyFor } from "../../src/rest/proxy.ts";
import { refused } from "./refused.ts";

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

	test("with a Latin letter in its host is taken, however often it is read", () => {
		const proxyAt = (address: string) => proxyFor("http://h", { http_proxy: address });
		// So often that the check is optimised.
		for (let time = 0; time < 50_000; time += 1) proxyAt("http://example.org/é");
		expect(proxyAt("http://münchen.example/")).toBe("http://münchen.example/");
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
