import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../support/ended.ts";
import { program, type Running, start } from "../support/program.ts";
import { file, folder } from "../support/service.ts";
import { at, parse, parseLines } from "../support/values.ts";

async function serving(
	argv: readonly string[],
	lines: number,
): Promise<Running & { readonly lines: readonly string[] }> {
	const running = start(["sandbox", "--port", "0", ...argv]);
	await running.until((out) => out.split("\n").length > lines);
	return { ...running, lines: running.out().trimEnd().split("\n") };
}

it("a sandbox prints its address, key and dataset, keeps its data after an exit, and ends normally at SIGTERM", async () => {
	const data = join(await folder(), "demo.db");
	const first = await serving(["--data", data, "--documents", "5"], 3);
	const [url = "", exported = "", dataset = ""] = first.lines;
	expect(first.lines).toHaveLength(3);
	expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
	const key = /^export RAGTAG_API_KEY=(\S+)$/.exec(exported)?.[1] ?? "";
	const env = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: key };
	const listed = await program(["docs", "list", "-d", dataset, "--format", "jsonl"], env);
	expect([listed.exit, parseLines(listed.stdout).length]).toEqual([0, 5]);
	await first.until((_out, err) => err.includes(" GET "));
	expect(first.err()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z GET \/api\/v1\S+ 200$/m);
	first.child.kill("SIGTERM");
	expect((await first.ended).exit).toBe(0);

	const second = await serving(["--data", data], 2);
	const again = { RAGTAG_BASE_URL: second.lines[0] ?? "", RAGTAG_API_KEY: second.lines[1]?.split("=")[1] ?? "" };
	const kept = await program(["docs", "list", "-d", dataset, "--format", "jsonl"], again);
	expect(kept.stdout).toBe(listed.stdout);
	second.child.kill("SIGINT");
	expect((await second.ended).exit).toBe(0);
});

it("a program after -- finds the service and a folder for its runs, and both end with it", async () => {
	const line =
		'echo "$RAGTAG_BASE_URL $RAGTAG_STATE_DIR"; test -d "$RAGTAG_STATE_DIR"; echo "$RAGTAG_API_KEY_FILE"; exit 3';
	const { exit, stdout, stderr } = await program(["sandbox", "--documents", "1", "--", "sh", "-e", "-c", line], {
		RAGTAG_API_KEY_FILE: "/a/key/of/another/service",
	});
	const [, url = "", state = ""] = /^(http:\/\/127\.0\.0\.1:[0-9]+) (\S+)\n\n$/.exec(stdout) ?? [stdout];
	expect([exit, stderr]).toEqual([3, "sh ended with exit code 3.\n"]);
	expect(existsSync(state)).toBe(false);
	await expect(fetch(url)).rejects.toThrow("fetch failed");
});

it("Ctrl-C belongs to the program: its service goes on until it ends", async () => {
	const running = start(["sandbox", "--", "sh", "-c", "echo here; exec sleep 60"]);
	await running.until((out) => out.includes("here"));
	running.child.kill("SIGINT");
	await setTimeout(200);
	expect([running.child.exitCode, running.err()]).toEqual([null, ""]);
	running.child.kill("SIGTERM");
	expect((await running.ended).exit).toBe(143);
});

it("SIGTERM to a sandbox ends its program, and a program that is not there is a wrong call", async () => {
	const running = start(["sandbox", "--", "sh", "-c", "echo here; exec sleep 60"]);
	await running.until((out) => out.includes("here"));
	running.child.kill("SIGTERM");
	expect((await running.ended).exit).toBe(143);

	await says(program(["sandbox", "--", "no-such-program"]), 2, "no-such-program could not be started");
});

it("a sandbox speaks the requested release, and the next one after the planned upgrade", async () => {
	const flags = ["--flavour", "ragflow-0.24", "--upgrade", "ragflow-0.25:1", "--ties", "stable", "--documents", "1"];
	const running = await serving([...flags, "--key", "owner-key", "--member-key", "member-key"], 3);
	const [url = "", , dataset = ""] = running.lines;
	const put = async (key: string): Promise<string> => {
		const response = await fetch(`${url}/api/v1/datasets/${dataset}/documents/${"0".repeat(31)}1`, {
			method: "PUT",
			headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
			body: '{"meta_fields":{"author":"Ana"}}',
		});
		return `${response.status} ${await response.text()}`;
	};
	expect(await put("member-key")).toMatch(/^200 \{"code":102,/);
	expect(await put("owner-key")).toMatch(/^200 \{"code":0,/);
	expect(await put("owner-key")).toMatch(/^200 \{"code":100,.*405: Method Not Allowed/);
	running.child.kill("SIGTERM");
	expect((await running.ended).exit).toBe(0);
});

it.each([
	[["--flavour", "ragflow-9.9"], "Allowed choices are documented, ragflow-0.18"],
	[["--upgrade", "ragflow-9.9:1"], "one of documented, ragflow-0.18"],
	[["--flavour", "ragflow-0.23", "--update", "merge"], "need --flavour documented"],
	[["--flavour", "ragflow-0.23", "--upgrade", "ragflow-0.26:9", "--update", "merge"], "need --flavour documented"],
])("sandbox %j is exit 2 with the reason", async (argv, why) => {
	const { exit, stdout, stderr } = await program(["sandbox", "--port", "0", ...argv]);
	expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(why)]);
});

it("a sandbox with faults names its record, fails as planned, and prints what it applied", async () => {
	const plan = '{"faults":[{"fault":"reset","when":"after","on":{"method":"PUT","nth":1}}]}';
	const path = await file("plan.json", plan);
	for (const given of [plan, path]) {
		const running = await serving(["--documents", "1", "--faults", given], 4);
		const [url = "", exported = "", dataset = "", control = ""] = running.lines;
		expect(control).toMatch(/^control http:\/\/127\.0\.0\.1:\d+$/);
		const env = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: exported.split("=")[1] ?? "" };
		const manifest = await file("tags.csv", `document_id,author\n${"0".repeat(31)}1,Ana\n`);
		await ends(program(["docs", "tag", manifest, "-d", dataset, "--json"], env), 0, { updated: 1 });
		const ask = async (what: string): Promise<string> => (await fetch(`${control.split(" ")[1]}${what}`)).text();
		expect(parse(await ask("/faults"))).toMatchObject({ faults: [{ fault: "reset", fired: 1 }] });
		const ledger = parseLines(await ask("/ledger"));
		expect(ledger.filter((entry) => at(entry, "action") === "update").length).toBeGreaterThan(0);
		await running.until((_out, err) => / PUT \S+ - reset after$/m.test(err));
		running.child.kill("SIGTERM");
		expect((await running.ended).exit).toBe(0);
	}
});

it.each([
	['{"faults":[{"fault":"rest"}]}', "fault 1 of the plan has the unknown name rest"],
	["{", "the plan is not JSON"],
	["/nonexistent/plan.json", "cannot be read"],
])("a fault plan like %j is exit 2 with the reason, and no sandbox starts without its faults", async (plan, why) => {
	const { exit, stdout, stderr } = await program(["sandbox", "--port", "0", "--faults", plan]);
	expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(why)]);
});

it("--faults list prints the faults and serves nothing", async () => {
	const { exit, stdout, stderr } = await program(["sandbox", "--faults", "list"]);
	expect([exit, stderr]).toEqual([0, ""]);
	expect(stdout).toMatch(/^reset +RST instead of an answer$/m);
});

it("a port in use is exit 2 with the reason", async () => {
	const first = await serving([], 2);
	const port = new URL(first.lines[0] ?? "").port;
	await says(program(["sandbox", "--port", port]), 2, `Port ${port} is in use`);
	first.child.kill("SIGTERM");
	await first.ended;
});
