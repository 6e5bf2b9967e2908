import { expect, it } from "vitest";
import { program } from "../support/program.ts";
import { KEY } from "../support/service.ts";
import { withoutKeyInAnyForm } from "../support/encodings.ts";

const URL = { RAGTAG_BASE_URL: "http://127.0.0.1:9" };

/** A key of another shape than RAGFlow's: it may be a name, too. */
const OTHER = "sk-Canary7Qx2Zp9Lm4Wv8Ts";

it.each<[string, readonly string[], Record<string, string>]>([
	["--api-key-file KEY", ["datasets", "list", "--api-key-file", KEY], URL],
	["RAGTAG_API_KEY_FILE=KEY", ["datasets", "list"], { ...URL, RAGTAG_API_KEY_FILE: KEY }],
	["--api-key=KEY", ["datasets", "list", `--api-key=${KEY}`], URL],
	["--api-key KEY", ["datasets", "list", "--api-key", KEY], URL],
	["--base-url KEY", ["datasets", "list", "--base-url", KEY], {}],
	["RAGTAG_BASE_URL=KEY", ["datasets", "list"], { RAGTAG_BASE_URL: KEY }],
	["a key in the path of the address", ["datasets", "list", "--base-url", `http://127.0.0.1:9/${KEY}?x`], {}],
	["--profile KEY", ["datasets", "list", "--profile", KEY], {}],
	["RAGTAG_PROFILE=KEY", ["datasets", "list"], { RAGTAG_PROFILE: KEY }],
	["--ca-file KEY", ["datasets", "list", "--ca-file", KEY], { ...URL, RAGTAG_API_KEY: "another-key1" }],
	["KEY as manifest", ["docs", "tag", KEY, "-d", "set"], {}],
	["KEY as command", [KEY], {}],
	["KEY as command of a group", ["docs", KEY], {}],
	["KEY as a value that must be a number", ["docs", "list", "-d", "set", "--rate", KEY], {}],
	["the variable's key as manifest", ["manifest", "check", KEY, "--json"], { RAGTAG_API_KEY: KEY }],
	["the variable's key in quotes", ["datasets", "list"], { ...URL, RAGTAG_API_KEY: `"${KEY} "` }],
	["RAGTAG_BASE_URL=KEY of doctor", ["doctor"], { RAGTAG_BASE_URL: KEY, RAGTAG_API_KEY: KEY }],
	["RAGTAG_BASE_URL=KEY of doctor, as JSON", ["doctor", "--json"], { RAGTAG_BASE_URL: KEY }],
	["RAGTAG_API_KEY_FILE=KEY of doctor, as JSON", ["doctor", "--json"], { ...URL, RAGTAG_API_KEY_FILE: KEY }],
	["KEY as run", ["runs", "show", KEY], {}],
	["KEY as state folder", ["runs", "list", "--state-dir", `/nonexistent/${KEY}`], {}],
])("%s: no output repeats the key", async (_, argv, env) => {
	for (const key of [KEY, OTHER]) {
		const swap = (text: string): string => text.replaceAll(KEY, key);
		const swapped = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, swap(value)]));
		// It fails by itself where a piece is printed.
		const { stdout, stderr, exit } = await program([...argv.map(swap), "--debug"], swapped);
		expect(exit).not.toBe(70);
		withoutKeyInAnyForm(stdout + stderr, key, "what is printed");
	}
});

it("an error names a missing key file by its path, and never a bare word, which may be the key", async () => {
	const named = await program(["datasets", "list", "--api-key-file", "/nonexistent/key"], URL);
	expect([named.exit, named.stderr]).toEqual([2, expect.stringContaining("/nonexistent/key: no such file")]);
	const bare = await program(["datasets", "list", "--api-key-file", "abcdefghij"], URL);
	expect(bare.exit).toBe(2);
	expect(bare.stderr).not.toContain("abcdef");
	expect(bare.stderr).toContain("the path of a file, never the key itself");
});
