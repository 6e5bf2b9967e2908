import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import { ends, says } from "../support/ended.ts";
import { program, shell, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";
import { at, parse, range } from "../support/values.ts";

const rows = (ids: readonly string[]): Promise<string> =>
	file("tags.csv", `document_id,n:number\n${ids.map((id, n) => `${id},${n}`).join("\n")}\n`);

it("a second Ctrl-C prints the counts so far and the command that resumes the run", async () => {
	const service = await serve(200, { latency: 400 });
	const path = await rows(await service.ids());
	const argv = ["docs", "tag", path, "-d", service.dataset, "--concurrency", "2", "--no-undo"];
	const running = start(argv, envOf(service));
	await expect.poll(() => service.requests.filter((line) => line.startsWith("PUT")).length).toBeGreaterThan(4);
	running.child.kill("SIGINT");
	await expect.poll(() => running.err()).toContain("stopping");
	running.child.kill("SIGINT");
	const { stderr } = await running.ended;
	expect(stderr).toContain("second signal, SIGINT: quitting now.");
	const [, updated, pending, run] =
		/200 rows: (\d+) updated, (\d+) pending(?:, of which \d+ may have been written)?\. Resume it with: (.*)\n$/.exec(
			stderr,
		) ?? [];
	expect(Number(updated) + Number(pending)).toBe(200);
	expect(Number(updated)).toBeGreaterThan(0);
	expect(run).toMatch(/^ragtag runs resume \d{8}T\d{6}-/);
});

it.each([
	[1, "ragflow-0.26"],
	[2, "documented"],
] as const)("%i Ctrl-C before anything is sent to %s advises no command to resume", async (times, flavour) => {
	const service = await serve(400, { latency: 500, flavour });
	const argv = ["docs", "tag", await rows(await service.ids()), "-d", service.dataset, "--concurrency", "2"];
	const running = start(argv, envOf(service));
	// The first page of the list was answered, and the next one is asked for.
	const isReading = (): boolean => service.requests.some((line) => /^GET \S+\/documents\?/.test(line));
	await expect.poll(isReading).toBe(true);
	running.child.kill("SIGINT");
	await running.until((_out, err) => err.includes("stopping"));
	if (times === 2) running.child.kill("SIGINT");
	expect((await running.ended).stderr).toMatch(/Nothing was sent: run the same command again\.\n$/);
});

it("a log that can't be opened ends a run before anything is sent, and one that can't be written is exit 74 after it", async () => {
	const service = await serve(3);
	const argv = ["docs", "tag", await rows(await service.ids()), "-d", service.dataset, "-q", "--json", "--log-file"];
	const before = service.requests.length;
	const unopened = await program([...argv, join(await folder(), "missing", "log")], envOf(service));
	expect([unopened.exit, unopened.stdout, service.requests.length]).toEqual([2, "", before]);
	const unwritten = await ends(program([...argv, "/dev/full"], envOf(service)), 74, { updated: 3, pending: 0 });
	expect(unwritten.stderr).toContain("--log-file /dev/full: no space left on device; the command goes on without it");
});

const onTerminal = spawnSync("script", ["--version"]).status === 0;

it.skipIf(!onTerminal)(
	`the terminal is closed: exit 129, and every row is accounted for${onTerminal ? "" : " (skipped: there is no program `script`)"}`,
	async () => {
		const service = await serve(200, { latency: 40 });
		const home = await folder();
		const path = await rows(await service.ids());
		const [pid, state] = [join(home, "pid"), join(home, "state")];
		const COMMAND = `echo $$ > ${pid}; exec $RAGTAG docs tag ${path} -d ${service.dataset} --concurrency 2 --state-dir ${state}`;
		const running = shell('SHELL=/bin/bash script -qefc "$COMMAND" /dev/null', { ...envOf(service), COMMAND });
		await expect.poll(() => service.requests.length).toBeGreaterThan(12);
		process.kill(Number(await readFile(pid, "utf8")), "SIGHUP");
		expect((await running).exit).toBe(129);
		const [run] = await readdir(join(state, "runs")).then((names) => names.filter((name) => !name.startsWith(".")));
		const summary = parse(await readFile(join(state, "runs", run ?? "", "summary.json"), "utf8"));
		const updated = (await service.documents()).filter(({ metadata }) => at(metadata, "n") !== undefined).length;
		expect(summary).toMatchObject({ rows: 200, updated, pending: 200 - updated, failed: 0, exit_code: 129 });
	},
);

it("a list that could not be written is exit 74", async () => {
	const service = await serve(3);
	const list = await shell(`$RAGTAG docs list -d ${service.dataset} > /dev/full`, envOf(service));
	expect([list.exit, list.stderr]).toEqual([74, expect.stringContaining("standard output could not be written")]);
	const path = await rows(await service.ids());
	await says(shell("$RAGTAG --version > /dev/full", {}), 74, "standard output could not be written");
	const tag = await shell(`$RAGTAG docs tag ${path} -d ${service.dataset} --json > /dev/full`, envOf(service));
	expect([tag.exit, tag.stderr]).toEqual([74, expect.stringContaining("3 rows: 3 updated")]);
	expect((await service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual([0, 1, 2]);
});

it("the built program tags 300 documents, and NO_COLOR keeps escape sequences out of a log", async () => {
	const service = await serve(300);
	const argv = ["docs", "tag", await rows(await service.ids()), "-d", service.dataset, "--rate", "5000"];
	const env = { ...envOf(service), NO_COLOR: "1", FORCE_COLOR: "1", HOME: await folder() };
	const { exit, stdout, stderr } = await program([...argv, "--progress", "json", "--debug"], env);
	expect([exit, stdout]).toEqual([0, ""]);
	expect(stderr).not.toContain("\u001b");
	expect(stderr).toContain("300 rows: 300 updated");
	expect((await service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual(range(300));
});
