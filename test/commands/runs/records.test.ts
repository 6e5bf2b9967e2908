import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import {
	ONE_BY_ONE,
	recorded,
	refuseAt,
	resumeOf,
	runOf,
	stopAt,
	tagged,
	tagging,
	toTag,
} from "../../support/recorded.ts";
import { file, folder, withoutKey } from "../../support/service.ts";
import { at, items, keys, parse, parseLines, summaryOf } from "../../support/values.ts";

const LIST_KEYS =
	"run command manifest state rows done failed pending started ended seconds exit_code base_url shard process host rate doing".split(
		" ",
	);

it("runs list shows every run, the newest first, with what is left to do", async () => {
	const { world, path, argv, run: stopped } = await tagged(5, stopAt(3));
	// Names of one second are told apart at random.
	await new Promise((resolve) => setTimeout(resolve, 1_000));
	const failing = await file("failing.csv", `${await readFile(path, "utf8")}${"f".repeat(32)},1\n`);
	const failed = runOf((await world.run(["docs", "tag", failing, ...argv.slice(3)])).stdout);
	const { exit, stdout } = await world.run(["runs", "list", "--json"], { env: {} });
	expect(exit).toBe(0);
	const lines = parseLines(stdout);
	expect(lines.map(keys)).toEqual([LIST_KEYS, LIST_KEYS]);
	expect(lines).toEqual([
		expect.objectContaining({
			run: failed,
			state: "failed rows",
			rows: 6,
			done: 5,
			failed: 1,
			pending: 0,
			exit_code: 1,
		}),
		{
			run: stopped,
			command: "docs tag",
			manifest: path,
			state: "unfinished",
			exit_code: 4,
			rows: 5,
			done: 2,
			failed: 0,
			pending: 3,
			base_url: `${world.service.url}/api/v1`,
			shard: null,
			started: at(parse(await readFile(world.path(stopped, "run.json"), "utf8")), "started"),
			ended: expect.stringMatching(/Z$/),
			seconds: at(parse(await readFile(world.path(stopped, "summary.json"), "utf8")), "seconds"),
			process: null,
			host: null,
			rate: null,
			doing: null,
		},
	]);
	const table = await world.run(["runs", "list"], { env: {} });
	expect(table.stdout.split("\n")[0]).toBe(
		"run\tcommand\tstate\texit\trows\tdone\tfailed\tpending\tstarted\ttook\tmanifest\tservice",
	);
	expect(table.stdout).toContain(`${stopped}\tdocs tag\tunfinished\t4\t5\t2\t0\t3\t`);
	expect(items(parse((await world.run(["runs", "list", "--format", "json"], { env: {} })).stdout))).toHaveLength(2);
});

it("runs show reports the purpose of a run and the command that resumes it, for people and for programs", async () => {
	const { world, path, argv } = await toTag(5, stopAt(3));
	const stopped = await world.run([...argv, "--set", "a=b"]);
	const run = runOf(stopped.stdout);
	const shown = await world.run(["runs", "show"], { env: {} });
	for (const text of [run, path, world.service.url, "unfinished", "2 updated, 3 pending", "ragtag runs resume"]) {
		expect(shown.stdout).toContain(text);
	}
	const { stdout } = await world.run(["runs", "show", run, "--json"], { env: {} });
	expect(parse(stdout)).toMatchObject({
		run,
		command: "docs tag",
		state: "unfinished",
		manifest: { name: path, path, rows: 5 },
		options: { set: ["a=b"], mode: "replace", dataset: world.service.dataset },
		counts: { rows: 5, updated: 2, pending: 3, failed: 0 },
		sittings: 1,
		folder: join(world.state, "runs", run),
		resume: `ragtag runs resume ${run}`,
		ended: expect.stringMatching(/Z$/),
		exit_code: 4,
		stop: { code: 4, text: at(summaryOf(stopped.stdout), "stop", "text") },
		slow: [],
	});
	const reason = String(at(summaryOf(stopped.stdout), "stop", "text"));
	for (const text of ["ended      ", ", exit code 4\n", "took       ", `stopped    ${reason}\n`])
		expect(shown.stdout).toContain(text);
	expect(at(parse(stdout), "base_url")).toContain(world.service.url);
	await world.run(resumeOf(stopped.stdout));
	expect(parse((await world.run(["runs", "show", run, "--json"])).stdout)).toMatchObject({
		state: "finished",
		in_doubt: 0,
		sittings: 2,
		resume: null,
	});
	await says(world.run(["runs", "show", "../../etc"]), 2, "there is no recorded run");
});

it("runs prune removes old finished runs, and never unfinished ones", async () => {
	const { world, argv, path, run: unfinished } = await tagged(5, stopAt(3));
	const other = await file("other.csv", await readFile(path, "utf8"));
	const finished = runOf((await world.run(["docs", "tag", other, ...argv.slice(3), "--set", "b=c"])).stdout);
	const young = await world.run(["runs", "prune"]);
	expect([young.exit, young.stdout]).toEqual([0, ""]);
	const old = await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "0"]);
	expect([old.exit, old.stdout]).toEqual([0, `${finished}\n`]);
	expect(old.stderr).toContain(`Run ${unfinished} is unfinished: it stays`);
	expect(await world.folders()).toEqual([unfinished]);
	// Its documents were written by the other run, whose record is gone: they are left alone all the same.
	await ends(world.run(["runs", "resume", "--json"]), 1, { superseded: 3, updated: 2 });
	expect((await world.run(["runs", "prune", unfinished])).stdout).toBe(`${unfinished}\n`);
	expect(await world.folders()).toEqual([]);
});

it("only their owner can read records, whatever the umask of a cron job is", async () => {
	const { world, path } = await toTag(3);
	const argv = ["docs", "tag", "-", "-d", world.service.dataset, ...ONE_BY_ONE];
	await world.run(argv, { stdin: `${await readFile(path, "utf8")}${"f".repeat(32)},1\n` });
	const entries = await readdir(world.state, { recursive: true, withFileTypes: true });
	const modes = await Promise.all(
		entries.map(async (entry) => {
			const name = join(entry.parentPath, entry.name);
			return [name, entry.isDirectory() ? "folder" : "file", ((await stat(name)).mode & 0o777).toString(8)] as const;
		}),
	);
	expect(modes.filter(([, kind, mode]) => mode !== (kind === "folder" ? "700" : "600"))).toEqual([]);
	expect(modes.map(([name]) => name.slice(name.lastIndexOf("/") + 1))).toEqual(
		expect.arrayContaining(["journal.log", "run.json", "summary.json", "failed.csv", "manifest"]),
	);
});

it("the key is in no file of the state folder: the reader of a backup could write to the service", async () => {
	const { world, argv } = await toTag(4, stopAt(3));
	const stopped = await world.run([...argv, "--debug"]);
	await world.run(resumeOf(stopped.stdout));
	const entries = await readdir(world.state, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile());
	expect(files.length).toBeGreaterThan(4);
	for (const entry of files) withoutKey(await readFile(join(entry.parentPath, entry.name), "latin1"));
});

it("a run whose run.json is damaged is named where it would be missing, with the command that removes it", async () => {
	const { world, argv } = await tagged(6);
	const run = runOf((await world.run(argv)).stdout);
	const path = world.path(run, "run.json");
	await writeFile(path, (await readFile(path, "utf8")).slice(0, 40));
	const remove = `runs prune ${run} --all`;
	const [document = ""] = await world.service.ids();
	// What that run wrote still counts: the undo of the run before leaves it alone.
	for (const [exit, ...command] of [
		[0, "list"],
		[0, "show"],
		[0, "report"],
		[2, "resume"],
		[0, "verify"],
		[1, "undo", "--dry-run"],
		[0, "blame", document],
	] as const) {
		const ended = await world.run(["runs", ...command]);
		const note = `Run ${run} is left out: ${path} is damaged. ragtag ${remove} removes its record.`;
		expect([ended.exit, ended.stderr]).toEqual([exit, expect.stringContaining(note)]);
	}
	for (const command of ["show", "verify", "resume"]) {
		await says(world.run(["runs", command, run]), 7, `run ${run} can't be read: ${path} is damaged`);
	}
	expect(await world.run(remove.split(" "))).toMatchObject({ exit: 0, stdout: `${run}\n` });
	expect((await world.run(["runs", "list"])).stderr).not.toContain("left out");
});

it("a damaged journal is exit 7 and sends nothing; after runs repair the run can be resumed", async () => {
	const { world, argv } = await toTag(6, stopAt(5));
	const stopped = await world.run(argv);
	const run = runOf(stopped.stdout);
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).split("\n");
	await writeFile(journal, lines.map((line, n) => (n === 2 ? line.replace(" ou ", " or ") : line)).join("\n"));
	const sent = world.writes();
	for (const command of [resumeOf(stopped.stdout), ["runs", "show", run], [...argv, "--resume"]]) {
		await says(world.run(command), 7, "runs repair");
	}
	expect(world.writes()).toBe(sent);
	expect((await world.run(["runs", "list"])).stdout).toContain(`${run}\tdocs tag\tdamaged`);
	expect((await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "0"])).stdout).toBe("");
	const repaired = await world.run(["runs", "repair", run]);
	expect([repaired.exit, repaired.stdout]).toEqual([0, expect.stringMatching(/journal\.log: .* lost/)]);
	await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { rows: 6, updated: 6, pending: 0 });
	const whole = await world.run(["runs", "repair", run]);
	expect([whole.exit, whole.stdout]).toEqual([0, expect.stringContaining("nothing to repair")]);
});

it("the command that retries failed rows, or resumes after a repair, finds the run in its folder", async () => {
	const world = await recorded(3, refuseAt(2));
	const state = await folder();
	const { argv } = await tagging(world);
	const { stdout, stderr } = await world.run([...argv, "--state-dir", state]);
	const run = runOf(stdout);
	const retry = `ragtag runs retry ${run} --state-dir ${state}`;
	expect(stderr.trimEnd().endsWith(retry)).toBe(true);
	expect(await world.folders()).toEqual([]);
	const journal = join(state, "runs", run, "journal.log");
	const lines = (await readFile(journal, "utf8")).split("\n");
	await writeFile(journal, lines.map((line, n) => (n === 2 ? line.replace(/.$/, "?") : line)).join("\n"));
	const repaired = await world.run(["runs", "repair", run, "--state-dir", state]);
	expect(repaired.stderr).toContain(`ragtag runs resume ${run} --state-dir ${state}`);
});

it("other entries in the folder of runs are skipped, not taken for runs", async () => {
	const { world, argv } = await toTag(2);
	await mkdir(join(world.state, "runs", "20200101T000000-aaaaaa"), { recursive: true });
	await mkdir(join(world.state, "runs", "notes"));
	await writeFile(join(world.state, "runs", "20200101T000001-aaaaaa"), "a file");
	await chmod(join(world.state, "runs"), 0o700);
	expect((await world.run([...argv, "--resume"])).exit).toBe(0);
	const { exit, stdout } = await world.run(["runs", "list", "--json"]);
	expect([exit, parseLines(stdout).length]).toEqual([0, 1]);
	await rm(join(world.state, "runs", "notes"), { recursive: true });
});
