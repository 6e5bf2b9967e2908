import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { program } from "../support/program.ts";
import { folder, KEY, serve } from "../support/service.ts";

async function secret(path: string, text: string): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text, { mode: 0o600 });
	await chmod(path, 0o600);
	return path;
}

it("a profile sets the address, the key and the dataset, and its key goes to no other address", async () => {
	const service = await serve(2);
	const other = await serve(2);
	const home = await folder();
	await secret(join(home, "ragtag", "key"), `${KEY}\n`);
	const profile = { base_url: `${service.url}/api/v1`, api_key_file: "key", dataset: service.dataset };
	await secret(join(home, "ragtag", "config.yaml"), JSON.stringify({ profiles: { work: profile } }));
	const argv = ["docs", "list", "--profile", "work", "--format", "jsonl"];
	const { exit, stdout } = await program(argv, { XDG_CONFIG_HOME: home });
	expect([exit, stdout.trimEnd().split("\n").length]).toEqual([0, 2]);
	const astray = await program([...argv, "--base-url", other.url, "--debug"], { XDG_CONFIG_HOME: home });
	expect([astray.exit, astray.stdout]).toEqual([2, ""]);
	expect(other.requests).toEqual([]);
});

it("the key is read from a file named by a flag or a variable, or from standard input", async () => {
	const service = await serve(1);
	const path = await secret(join(await folder(), "key"), `${KEY}\n`);
	const argv = ["datasets", "list", "--base-url", service.url, "--debug"];
	expect((await program([...argv, "--api-key-file", path])).exit).toBe(0);
	expect((await program(argv, { RAGTAG_API_KEY_FILE: path })).exit).toBe(0);
	expect((await program([...argv, "--api-key-file", "-"], {}, `${KEY}\n`)).exit).toBe(0);
	const sent = service.requests.length;
	expect(sent).toBeGreaterThan(0);
	expect((await program([...argv, "--api-key-file", "-"], {}, "")).exit).toBe(2);
	expect((await program([...argv, "--api-key-file", `${path}x`])).exit).toBe(2);
	expect(service.requests).toHaveLength(sent);
});

it("standard input cannot be both the key and a manifest", async () => {
	const service = await serve(1);
	const argv = ["docs", "tag", "-", "-d", service.dataset, "--base-url", service.url, "--api-key-file", "-"];
	expect((await program(argv, {}, `${KEY}\n`)).exit).toBe(2);
	expect(service.requests).toEqual([]);
});
