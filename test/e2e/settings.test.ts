import { expect, it } from "vitest";
import { program } from "../support/program.ts";
import { file, KEY, serve } from "../support/service.ts";

it("the key is read from a file named by a flag or a variable, or from standard input", async () => {
	const service = await serve(1);
	const path = await file("key", `${KEY}\n`);
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
