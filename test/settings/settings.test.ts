import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSettings } from "../../src/settings.ts";
import { checkedAddress, sameService } from "../../src/settings/address.ts";
import { complaint, file, world } from "./helpers.ts";
import { folder } from "../support/service.ts";

const CONFIG = `profiles:
  work:
    base_url: https://rag.example.com/api/v1/
    dataset: ds1
    rate: 20
    body: json
`;

async function homeWith(config: string): Promise<string> {
	const home = await folder();
	await file(join(home, ".config", "ragtag", "config.yaml"), config);
	return home;
}

describe("where the address comes from", () => {
	it.each([
		[{ baseUrl: "http://127.0.0.1:1" }, "http://127.0.0.1:2", "http://127.0.0.1:1", "--base-url"],
		[{}, "http://127.0.0.1:2/", "http://127.0.0.1:2", "RAGTAG_BASE_URL"],
		// An empty variable is an unset one.
		[{}, "", "https://rag.example.com/api/v1", "profile work"],
	])("%j and RAGTAG_BASE_URL %j: %s, and its origin is named", async (flags, RAGTAG_BASE_URL, value, origin) => {
		const settings = await resolveSettings(
			flags,
			world({ RAGTAG_BASE_URL, RAGTAG_PROFILE: "work" }, await homeWith(CONFIG)),
		);
		expect(settings.baseUrl).toEqual({ value, origin });
	});

	it("a missing address names the variable to set and the sandbox", async () => {
		const settings = await resolveSettings({}, world());
		expect(settings.requireBaseUrl).toThrow("no service address is set");
		const { exit, text } = await complaint(Promise.resolve().then(() => settings.requireBaseUrl()));
		expect(exit).toBe(2);
		expect(text).toContain("RAGTAG_BASE_URL");
		expect(text).toContain("ragtag sandbox");
	});

	it("an address with a Latin letter in its host is one, however often it is read", () => {
		const read = (value: string): string => checkedAddress({ value, origin: "--base-url" }).value;
		// So often that the check is optimised.
		for (let time = 0; time < 50_000; time += 1) read("https://example.org/é");
		expect(read("https://münchen.example")).toBe("https://xn--mnchen-3ya.example");
	});

	it("an address that carries a password is refused without repeating it", async () => {
		for (const baseUrl of ["https://me:s3cretpw@rag.example.com", "me:s3cretpw@rag"]) {
			const { exit, text } = await complaint(resolveSettings({ baseUrl }, world()));
			expect(exit).toBe(2);
			expect(text).not.toContain("s3cretpw");
		}
	});

	it.each(["rag.example.com", "ftp://rag.example.com", "https://rag.example.com/?a=1", "localhost:9380", ""])(
		"%j is no address",
		async (baseUrl) => {
			expect((await complaint(resolveSettings({ baseUrl }, world()))).exit).toBe(2);
		},
	);
});

describe("other settings", () => {
	it("a profile's dataset, rate and body have their origin", async () => {
		const settings = await resolveSettings({}, world({ RAGTAG_PROFILE: "work" }, await homeWith(CONFIG)));
		expect(settings.profile).toEqual({ value: "work", origin: "RAGTAG_PROFILE" });
		expect(settings.dataset).toEqual({ value: "ds1", origin: "profile work" });
		expect(settings.rate).toEqual({ value: 20, origin: "profile work" });
		expect(settings.body).toEqual({ value: "json", origin: "profile work" });
	});

	it.each([
		[{ stateDir: "/a" }, { RAGTAG_STATE_DIR: "/b" }, { value: "/a", origin: "--state-dir" }],
		[{}, { RAGTAG_STATE_DIR: "/b", XDG_STATE_HOME: "/c" }, { value: "/b", origin: "RAGTAG_STATE_DIR" }],
		[{}, { XDG_STATE_HOME: "/c" }, { value: "/c/ragtag", origin: "default" }],
		[{}, { XDG_STATE_HOME: "relative" }, { value: "/home/me/.local/state/ragtag", origin: "default" }],
	])("runs are recorded where flag, environment and XDG say: %j %j", async (flags, env, expected) => {
		expect((await resolveSettings(flags, world(env, "/home/me"))).stateDir).toEqual(expected);
	});

	it("a connection that checks no certificates is refused", async () => {
		const { exit, text } = await complaint(resolveSettings({}, world({ NODE_TLS_REJECT_UNAUTHORIZED: "0" })));
		expect(exit).toBe(2);
		expect(text).toContain("--ca-file");
	});

	it("require_https refuses a plain address from the environment", async () => {
		const home = await homeWith("profiles: {p: {require_https: true}}");
		const promise = resolveSettings({ profile: "p" }, world({ RAGTAG_BASE_URL: "http://rag.example.com" }, home));
		expect((await complaint(promise)).text).toContain("requires https");
	});
});

it.each([
	["https://h/api", "https://h/api/v1", true],
	["https://h", "https://h/api", true],
	["https://h/api/api/v1", "https://h/api", false],
	["https://h/rag/api", "https://h/api", false],
])("%s and %s are one service: %s, as the profile's key goes to its own address alone", (one, other, same) => {
	expect([sameService(one, other), sameService(other, one)]).toEqual([same, same]);
});
