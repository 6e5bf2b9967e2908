import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { program, shell, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve, type Service } from "../support/service.ts";
import { at, summaryOf } from "../support/values.ts";

const manifest = async (service: Service): Promise<string> =>
	file("tags.csv", `document_id,n:number\n${(await service.ids()).map((id, n) => `${id},${n}`).join("\n")}\n`);

const written = (service: Service): number =>
	service.requests.filter((line) => line.startsWith("PUT") && line.endsWith(" 200")).length;

const world = async (
	documents: number,
	latency = 20,
	options: Parameters<typeof serve>[1] = {},
): Promise<{ service: Service; argv: string[]; env: Record<string, string>; state: string; path: string }> => {
	const service = await serve(documents, { latency, ...options });
	const path = await manifest(service);
	const state = await folder();
	const flags = ["-d", service.dataset, "--rate", "5000", "--json", "--resume"];
	const env = { ...envOf(service), RAGTAG_STATE_DIR: state };
	return { service, path, state, argv: ["docs", "tag", path, ...flags], env };
};

it("the command in the last line after Ctrl-C completes the run", async () => {
	const { service, argv, env } = await world(100);
	const running = start([...argv, "--concurrency", "2"], env);
	await expect.poll(() => written(service), { timeout: 60_000, interval: 5 }).toBeGreaterThan(10);
	running.child.kill("SIGINT");
	const stopped = await running.ended;
	expect(stopped.exit).toBe(130);
	const resume = String(at(summaryOf(stopped.stdout), "resume"));
	expect(stopped.stderr.trimEnd().endsWith(`Resume it with: ${resume}`)).toBe(true);
	const { exit, stdout } = await shell(`${resume.replace(/^ragtag/, "$RAGTAG")} --json`, env);
	expect(exit).toBe(0);
	expect(summaryOf(stdout)).toMatchObject({ rows: 100, updated: 100, pending: 0, resume: null });
	// A graceful stop waits for what is in flight: nothing is sent again.
	expect(written(service)).toBe(100);
});

it("the next start removes the copy of a manifest that kill -9 left", async () => {
	const { service, argv, env, path, state } = await world(100);
	const piped = argv.map((word) => (word === path ? "-" : word));
	const running = start([...piped, "--concurrency", "2"], env, await readFile(path, "utf8"));
	await expect.poll(() => written(service), { timeout: 60_000, interval: 5 }).toBeGreaterThan(10);
	running.child.kill("SIGKILL");
	await running.ended;
	const left = await readdir(join(state, "tmp"), { recursive: true });
	expect(left.filter((name) => name.endsWith("manifest"))).toHaveLength(1);
	expect((await program(["docs", "tag", path, "-d", service.dataset, "--dry-run"], env)).exit).toBe(0);
	expect(await readdir(join(state, "tmp"))).toEqual([]);
});

it("a full disk is exit 7 before anything is sent, as no outcome could be recorded", async () => {
	const { service, argv, env } = await world(3, 0);
	// No file may grow, which fails as a full disk does.
	const line = `trap '' XFSZ; ulimit -f 0; $RAGTAG ${argv.join(" ")}`;
	const { exit, stderr } = await shell(line, env);
	expect([exit, stderr]).toEqual([7, expect.stringMatching(/too large|no space left/)]);
	expect(written(service)).toBe(0);
	const { exit: later, stdout } = await program(argv, env);
	expect([later, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ updated: 3 })]);
});
