import fc from "fast-check";
import { join } from "node:path";
import { expect, it } from "vitest";
import { resolveSettings, type SettingFlags } from "../../src/settings.ts";
import { isLoopback } from "../../src/settings/address.ts";
import { CliError } from "../../src/errors.ts";
import { file, world } from "./helpers.ts";
import { folder } from "../support/service.ts";

const [A, B, C] = ["https://a.example.com", "https://b.example.com", "https://c.example.com"];

/** `both` has an address and its key, `address` has no key, `neither` has only a rate. */
const CONFIG = `profiles:
  both: {base_url: '${A}', api_key_command: echo key-of-profile, ca_file: profile.pem}
  address: {base_url: '${A}'}
  neither: {rate: 5}
`;

type Found = { readonly to: string; readonly key: string; readonly notes: string };

/** Where the key would go, which it is, and the note; or what is refused. */
async function found(flags: SettingFlags & { key?: boolean }, env: Record<string, string>): Promise<Found | string> {
	const home = await folder();
	await file(join(home, ".config/ragtag/config.yaml"), CONFIG);
	const { key: isKeyTyped = false, ...others } = flags;
	const typed = isKeyTyped ? { ...others, apiKeyFile: await file(join(home, "key"), "key-of-flag") } : others;
	const sources = world({ PATH: "/usr/bin:/bin", ...env }, home);
	try {
		const settings = await resolveSettings(typed, sources);
		return { to: settings.requireBaseUrl().value, key: await settings.key(), notes: sources.warnings.join("; ") };
	} catch (error) {
		if (error instanceof CliError && error.exit === 2) return `${error.message} ${error.hint ?? ""}`;
		throw error;
	}
}

const K = { RAGTAG_API_KEY: "key-of-variable" };
const U = { RAGTAG_BASE_URL: C };

const AWAY = `the key of profile both goes only to ${A}`;
const OTHERS = "may be the key of another service";

/** Where the key goes and which it is, `to key`, with the note after it; or a part of the refusal. */
it.each<[string, SettingFlags & { key?: boolean }, Record<string, string>, string]>([
	["the typed profile, both members", { profile: "both" }, {}, `${A} key-of-profile`],
	[
		"the typed profile stands above both variables, which are named",
		{ profile: "both" },
		{ ...U, ...K },
		`${A} key-of-profile RAGTAG_BASE_URL and RAGTAG_API_KEY are not used: --profile both is used instead`,
	],
	["above the variable of the address", { profile: "both" }, U, `${A} key-of-profile RAGTAG_BASE_URL is not`],
	["above the variable of the key", { profile: "both" }, K, `${A} key-of-profile RAGTAG_API_KEY is not`],
	[
		"a variable that says the same is not worth a note",
		{ profile: "both" },
		{ RAGTAG_BASE_URL: A },
		`${A} key-of-profile`,
	],
	[
		"nor one that says it in another form",
		{ profile: "both" },
		{ RAGTAG_BASE_URL: `${A}/api/v1/` },
		`${A} key-of-profile`,
	],
	["the profile of the variable stands below both", {}, { RAGTAG_PROFILE: "both", ...U, ...K }, `${C} key-of-variable`],
	[
		"the profile of the variable, and its key goes to no other address",
		{},
		{ RAGTAG_PROFILE: "both", ...U },
		`${AWAY}, and RAGTAG_BASE_URL says ${C}`,
	],
	["nor to that host without TLS", {}, { RAGTAG_PROFILE: "both", RAGTAG_BASE_URL: "http://a.example.com" }, AWAY],
	["nor to another port of it", {}, { RAGTAG_PROFILE: "both", RAGTAG_BASE_URL: `${A}:444` }, AWAY],
	[
		"the profile of the variable, with another key for its address",
		{},
		{ RAGTAG_PROFILE: "both", ...K },
		`${A} key-of-variable`,
	],
	["a typed address with another's profile", { profile: "both", baseUrl: B }, {}, `${AWAY}, and --base-url says ${B}`],
	["the same, and a variable's key is not taken silently", { profile: "both", baseUrl: B }, K, "leave the profile out"],
	["the same with a key: all is typed", { profile: "both", baseUrl: B, key: true }, { ...U, ...K }, `${B} key-of-flag`],
	[
		"a typed address that is the profile's",
		{ profile: "both", baseUrl: `${A}/` },
		K,
		`${A} key-of-profile RAGTAG_API_KEY is not`,
	],
	[
		"a typed key with the profile's address",
		{ profile: "both", key: true },
		{ ...U, ...K },
		`${A} key-of-flag RAGTAG_BASE_URL is not`,
	],
	["a profile without a key takes the variable's", { profile: "address" }, K, `${A} key-of-variable`],
	["but not one that belongs to another address", { profile: "address" }, { ...U, ...K }, `RAGTAG_API_KEY ${OTHERS}`],
	["and one for the same address", { profile: "address" }, { ...K, RAGTAG_BASE_URL: A }, `${A} key-of-variable`],
	[
		"a variable's address that is none is another's",
		{ profile: "address" },
		{ ...K, RAGTAG_BASE_URL: "a.example.com" },
		OTHERS,
	],
	["a profile without a key, and none elsewhere", { profile: "address" }, U, "no API key is set"],
	["a profile without a key, of the variable", {}, { RAGTAG_PROFILE: "address", ...U, ...K }, `${C} key-of-variable`],
	["a profile without both takes the variables'", { profile: "neither" }, { ...U, ...K }, `${C} key-of-variable`],
	["a typed address with the variable's key", { baseUrl: B }, { ...U, ...K }, `${B} key-of-variable`],
	["a typed profile above the variable's", { profile: "both" }, { RAGTAG_PROFILE: "neither" }, `${A} key-of-profile`],
])("%s", async (_, flags, env, expected) => {
	const what = await found(flags, env);
	if (typeof what === "string") return expect(what).toContain(expected);
	const text = `${what.to} ${what.key} ${what.notes}`.trim();
	// A note is compared by its beginning, and where none is expected there is none.
	if (/ key-of-\w+$/.test(expected)) expect(text).toBe(expected);
	else expect(text).toMatch(new RegExp(`^${expected}`));
});

it("the certificates of a typed profile also take precedence over the variable's", async () => {
	const home = await folder();
	await file(join(home, ".config/ragtag/config.yaml"), CONFIG);
	const env = { NODE_EXTRA_CA_CERTS: "/other.pem" };
	const typed = await resolveSettings({ profile: "both" }, world(env, home));
	expect(typed.caFile?.origin).toBe("profile both");
	const named = await resolveSettings({}, world({ ...env, RAGTAG_PROFILE: "both" }, home));
	expect(named.caFile?.origin).toBe("NODE_EXTRA_CA_CERTS");
});

it("a key that goes elsewhere by TLS causes no warning", async () => {
	const sources = world({ RAGTAG_BASE_URL: A, ...K });
	await (await resolveSettings({}, sources)).key();
	expect(sources.warnings).toEqual([]);
});

it("in no combination does a key go to an address that it does not belong to", async () => {
	const world = fc.record({
		profile: fc.constantFrom(undefined, "both", "address", "neither"),
		isTyped: fc.boolean(),
		baseUrl: fc.constantFrom(undefined, A, B),
		key: fc.boolean(),
		url: fc.constantFrom(undefined, A, C),
		hasKey: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(world, async ({ profile, isTyped, baseUrl, key, url, hasKey }) => {
			const env = {
				...(profile === undefined || isTyped ? {} : { RAGTAG_PROFILE: profile }),
				...(url === undefined ? {} : { RAGTAG_BASE_URL: url }),
				...(hasKey ? K : {}),
			};
			const what = await found({ key, baseUrl, profile: isTyped ? profile : undefined }, env);
			if (typeof what === "string") return;
			if (baseUrl !== undefined) expect(what.to).toBe(baseUrl);
			if (key) expect(what.key).toBe("key-of-flag");
			if (what.key === "key-of-profile") expect(what.to).toBe(A);
			// The variable's key goes to its own address, to a typed one, or to a profile's where it has none of its own.
			if (what.key === "key-of-variable" && url !== undefined && baseUrl === undefined) expect(what.to).toBe(url);
			if (isTyped && (profile === "both" || profile === "address")) expect(what.to).toBe(baseUrl ?? A);
		}),
		{ numRuns: 150 },
	);
});

it.each([
	["http://localhost:1", true],
	["http://127.0.0.1", true],
	["http://127.8.9.10/x", true],
	["http://0x7f.1", true],
	["http://2130706433", true],
	["http://127.1", true],
	["http://[::1]:9", true],
	["http://127.0.0.1.example.org", false],
	["http://127.example.org", false],
	["http://localhost.example.org", false],
	["http://my.localhost", false],
	["http://128.0.0.1", false],
	["http://[::2]", false],
	["http://10.127.0.1", false],
	["http://rag.example.com", false],
])("%s is this machine: %s; a key that goes elsewhere without TLS is warned about", async (url, isHere) => {
	expect(isLoopback(url)).toBe(isHere);
	const sources = world({ RAGTAG_BASE_URL: url, ...K });
	await (await resolveSettings({}, sources)).key();
	expect(sources.warnings).toHaveLength(isHere ? 0 : 1);
});
