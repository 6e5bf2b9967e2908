import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSettings } from "../../src/settings.ts";
import { parseProfile } from "../../src/settings/profiles.ts";
import { complaint, file, folder, world } from "./helpers.ts";

describe("a fault in config.yaml is found at its place", () => {
	it.each([
		["profiles:\n  p:\n    base_ur: x\n", '/c.yaml:3:5: unknown member "base_ur"'],
		["profils: {}\n", '/c.yaml:1:1: unknown member "profils"'],
		["profiles:\n  p:\n    rate: fast\n", "/c.yaml:3:11: rate must be a number"],
		["profiles:\n  p:\n    rate: 0\n", "/c.yaml:3:11: rate must be a number"],
		["profiles:\n  p:\n    dataset: 12\n", "/c.yaml:3:14: dataset must be text"],
		["profiles:\n  p:\n    body: xml\n", "/c.yaml:3:11: body must be"],
		["profiles:\n  p:\n    require_https: 'yes'\n", "/c.yaml:3:20: require_https must be true or false"],
		["profiles:\n  p:\n    base_url: rag\n", "/c.yaml:3:5: the address in profile p is no http"],
		["profiles:\n  p: text\n", '/c.yaml:2:6: profile "p" must be a map'],
		["profiles:\n  p: {}\n  p: {}\n", "/c.yaml:3:3: Map keys must be unique"],
		["profiles:\n  p: [\n", "/c.yaml:"],
		["profiles:\n  p: {api_key_file: k}\n", '/c.yaml:2:3: profile "p" has a key but no base_url'],
		["profiles:\n  q: &a {rate: 1}\n  p: *a\n", "written out, not an alias"],
		["profiles:\n  p:\n    policy: strict\n", "/c.yaml:3:5: policy is not built yet"],
		["profiles:\n  q: {}\n  other: {}\n", 'there is no profile "p" in /c.yaml It has "q", "other".'],
		["", "It has none."],
	])("%j", async (text, expected) => {
		const found = await complaint(parseProfile(text, "/c.yaml", "p"));
		expect(found.exit).toBe(2);
		expect(found.text).toContain(expected);
	});
});

it("a mistyped member in a profile that is not used is told, too", async () => {
	expect((await complaint(parseProfile("profiles:\n  p: {}\n  q: {rat: 1}\n", "/c.yaml", "p"))).text).toContain("rat");
});

it("a profile that waits for a later release does not keep another one from working", async () => {
	const text = "profiles: {p: {rate: unlimited, flavour: documented}, q: {policy: x, flavour: y}}";
	expect(await parseProfile(text, "/c.yaml", "p")).toEqual({ name: "p", rate: "unlimited", flavour: "documented" });
});

it("a profile's paths do not depend on the folder that the program is called in", async () => {
	const text = "profiles: {p: {base_url: 'http://h', api_key_file: ~/k, ca_file: ca.pem}}";
	expect(await parseProfile(text, "/etc/x/config.yaml", "p", "/home/me")).toMatchObject({
		apiKeyFile: "/home/me/k",
		caFile: "/etc/x/ca.pem",
	});
});

it("a file of profiles that others can write is not trusted with a key", async () => {
	const home = await folder();
	await file(join(home, "xdg", "ragtag", "config.yaml"), "profiles: {p: {}}", 0o666);
	const sources = world({ XDG_CONFIG_HOME: join(home, "xdg") }, home);
	expect((await complaint(resolveSettings({ profile: "p" }, sources))).text).toContain("can be written by others");
});

it("a profile is asked for and there is no file: the message names both", async () => {
	const home = await folder();
	const { exit, text } = await complaint(resolveSettings({ profile: "p" }, world({}, home)));
	expect(exit).toBe(2);
	expect(text).toContain('profile "p" of --profile');
	expect(text).toContain(join(home, ".config", "ragtag", "config.yaml"));
});
