import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSettings } from "../../src/settings.ts";
import { parseProfile } from "../../src/settings/profile.ts";
import { complaint, file, world } from "./helpers.ts";
import { folder } from "../support/service.ts";

describe("a fault in config.yaml is reported with its place", () => {
	it.each([
		["profiles:\n  p:\n    base_ur: x\n", '/c.yaml:3:5: unknown member "base_ur"'],
		["profils: {}\n", '/c.yaml:1:1: unknown member "profils"'],
		["profiles:\n  p:\n    rate: fast\n", "/c.yaml:3:11: rate must be a number"],
		["profiles:\n  p:\n    rate: 0\n", "/c.yaml:3:11: rate must be a number"],
		["profiles:\n  p:\n    rate: 08:00=20 8:00=30\n", "or a timetable as in '08:00=20 20:00=100'"],
		["profiles:\n  p:\n    dataset: 12\n", "/c.yaml:3:14: dataset must be text"],
		["profiles:\n  p:\n    body: xml\n", "/c.yaml:3:11: body must be"],
		["profiles:\n  p:\n    require_https: 'yes'\n", "/c.yaml:3:20: require_https must be true or false"],
		["profiles:\n  p:\n    base_url: rag\n", "/c.yaml:3:5: the address in profile p is no http"],
		["profiles:\n  p: text\n", '/c.yaml:2:6: profile "p" must be a map'],
		["profiles:\n  p: {}\n  p: {}\n", "/c.yaml:3:3: Map keys must be unique"],
		["profiles:\n  p: [\n", "/c.yaml:"],
		["profiles:\n  p: {api_key_file: k}\n", '/c.yaml:2:3: profile "p" has a key but no base_url'],
		["profiles:\n  q: &a {rate: 1}\n  p: *a\n", "written out, not an alias"],
		["profiles:\n  p:\n    policy: strict\n", "/c.yaml:3:13: policy must be a map of names"],
		["profiles:\n  p:\n    policy:\n", "/c.yaml:3:"],
		[
			"profiles:\n  p:\n    policy: {protect: [a]}\n",
			'/c.yaml:3:14: unknown member "protect" in policy; known: protected,',
		],
		["profiles:\n  p:\n    policy: {protected: a}\n", "/c.yaml:3:25: protected must be a list of keys"],
		["profiles:\n  p:\n    policy: {protected: []}\n", "/c.yaml:3:25: protected must be a list of keys"],
		["profiles:\n  p:\n    policy: {protected: [a, 1]}\n", "/c.yaml:3:29: protected must be keys as text"],
		["profiles:\n  p:\n    policy: {protected: [a, *b]}\n", "/c.yaml:3:29: "],
		["profiles:\n  p:\n    policy: {required: {a: 1}}\n", "/c.yaml:3:24: required must be a list of keys"],
		["profiles:\n  p:\n    policy: {allowed: [a]}\n", "/c.yaml:3:23: allowed must be a map of names"],
		[
			"profiles:\n  p:\n    policy: {allowed: {a: b}}\n",
			"/c.yaml:3:27: a must be a list of the values that are allowed",
		],
		["profiles:\n  p:\n    policy: {allowed: {a: [1, .inf]}}\n", "/c.yaml:3:31: a must be values that JSON has"],
		["profiles:\n  p:\n    policy: {max_changes: -1}\n", "/c.yaml:3:27: max_changes must be a whole number"],
		["profiles:\n  p:\n    policy: {max_changes: 1.5}\n", "/c.yaml:3:27: max_changes must be a whole number"],
		["profiles:\n  p:\n    policy: {max_changes: 101%}\n", "/c.yaml:3:27: max_changes must be a whole number"],
		["profiles:\n  p:\n    policy: {max_changes: many}\n", "/c.yaml:3:27: max_changes must be a whole number"],
		["profiles:\n  p:\n    policy: {no_clearing: 'true'}\n", "/c.yaml:3:27: no_clearing must be true or false"],
		["profiles:\n  p:\n    policy: {required: [a], required: [b]}\n", "Map keys must be unique"],
		["profiles:\n  q:\n    policy: {max_change: 1}\n  p: {}\n", '/c.yaml:3:14: unknown member "max_change" in policy'],
		["profiles:\n  q: {}\n  other: {}\n", 'there is no profile "p" in /c.yaml It has "q", "other".'],
		["", "It has none."],
	])("%j", async (text, expected) => {
		const found = await complaint(parseProfile(text, "/c.yaml", "p"));
		expect(found.exit).toBe(2);
		expect(found.text).toContain(expected);
	});
});

it("a mistyped member in an unused profile is reported, too", async () => {
	expect((await complaint(parseProfile("profiles:\n  p: {}\n  q: {rat: 1}\n", "/c.yaml", "p"))).text).toContain("rat");
});

it("a flavour of a later release does not keep another profile from working", async () => {
	const timetable = await parseProfile("profiles: {p: {rate: 20:00=100 08:00=20}}", "/c.yaml", "p");
	expect(timetable.rate).toEqual([
		{ minute: 480, rate: 20 },
		{ minute: 1200, rate: 100 },
	]);
	const text = "profiles: {p: {rate: unlimited, flavour: documented}, q: {flavour: y}}";
	expect(await parseProfile(text, "/c.yaml", "p")).toEqual({ name: "p", rate: "unlimited", flavour: "documented" });
});

it("a policy is read as written, with values as in JSON", async () => {
	const text = `profiles:
  p:
    policy:
      protected: [source_id, url]
      allowed:
        category: [news, "5", 5, true, null, [a, null], {b: [1]}]
        __proto__: [x]
      required:
        - author
      max_changes: 2.5%
      no_clearing: true
`;
	expect((await parseProfile(text, "/c.yaml", "p")).policy).toEqual({
		protectedKeys: new Set(["source_id", "url"]),
		allowed: new Map<string, unknown>([
			["category", ["news", "5", 5, true, null, ["a", null], { b: [1] }]],
			["__proto__", ["x"]],
		]),
		required: new Set(["author"]),
		maxChanges: { unit: "percent", value: 2.5 },
		noClearing: true,
	});
	const most = await parseProfile("profiles: {p: {policy: {max_changes: 500}}}", "/c.yaml", "p");
	expect(most.policy).toMatchObject({ maxChanges: { unit: "documents", value: 500 }, noClearing: false });
});

it("a profile's paths do not depend on the working folder", async () => {
	const text = "profiles: {p: {base_url: 'http://h', api_key_file: ~/k, ca_file: ca.pem}}";
	expect(await parseProfile(text, "/etc/x/config.yaml", "p", "/home/me")).toMatchObject({
		apiKeyFile: "/home/me/k",
		caFile: "/etc/x/ca.pem",
	});
});

it("a file of profiles that others can write is refused", async () => {
	const home = await folder();
	await file(join(home, "xdg", "ragtag", "config.yaml"), "profiles: {p: {}}", 0o666);
	const sources = world({ XDG_CONFIG_HOME: join(home, "xdg") }, home);
	expect((await complaint(resolveSettings({ profile: "p" }, sources))).text).toContain("can be written by others");
});

it("a requested profile without a file: the message names both", async () => {
	const home = await folder();
	const { exit, text } = await complaint(resolveSettings({ profile: "p" }, world({}, home)));
	expect(exit).toBe(2);
	expect(text).toContain('profile "p" of --profile');
	expect(text).toContain(join(home, ".config", "ragtag", "config.yaml"));
});
