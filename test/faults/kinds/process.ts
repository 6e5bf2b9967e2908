import { appendFile, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { expect } from "vitest";
import { program, shell, start } from "../../support/program.ts";
import { type Ended, envOf } from "../../support/ragtag.ts";
import { file, folder, idOf } from "../../support/service.ts";
import { at, linesOf, parse, range, summaryOf } from "../../support/values.ts";
import { allThere, goesOn, type Halfway, halfway } from "../rig/halfway.ts";
import { bounded, manifestOf, outcomesOf, planned, serviceOf, trial, withoutKeyIn } from "../rig/trial.ts";
import { section } from "../table.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The journal of the newest run. */
async function journalOf(state: string): Promise<string> {
	const names = await readdir(join(state, "runs"));
	const name = names
		.filter((each) => !each.startsWith("."))
		.toSorted()
		.at(-1);
	if (name === undefined) throw new Error("no run was recorded");
	return join(state, "runs", name, "journal.log");
}

/** A run that was killed in the middle. */
const killed = (rows = 50): Promise<Halfway> => halfway(({ child }) => void child.kill("SIGKILL"), { rows });

async function stopped({ exit, stdout, state, service }: Halfway, wanted: number): Promise<void> {
	expect(exit).toBe(wanted);
	const summary = summaryOf(stdout);
	expect(summary).toMatchObject({ rows: 50, failed: 0, exit_code: wanted });
	const updated = [...(await outcomesOf(state)).values()].filter(({ status }) => status === "updated");
	expect(at(summary, "updated")).toBe(updated.length);
	const applied = new Set(
		service.control.ledger().flatMap((entry) => (entry.type === "applied" ? [entry.document] : [])),
	);
	for (const { id } of updated) expect(applied.has(id)).toBe(true);
}

const resume = (state: string, url: { readonly url: string }, args: readonly string[] = []): Promise<Ended> =>
	program(["runs", "resume", "--json", "--state-dir", state, ...args], envOf(url));

export const processes = section("none", (test) => {
	test("P1 quick: Ctrl-C ends a run with every row accounted for, and it goes on where it stopped", async () => {
		const half = await halfway(({ child }) => void child.kill("SIGINT"));
		await stopped(half, 130);
		await goesOn(half, 50, 0);
	});
	test("P1: a second Ctrl-C leaves at once, and what was recorded is kept", async () => {
		const half = await halfway(async (running) => {
			running.child.kill("SIGINT");
			await running.until((_, err) => err.includes("SIGINT: stopping"));
			running.child.kill("SIGINT");
		});
		expect(half.exit).toBe(130);
		await goesOn(half, 50, 1);
	});
	test("P2 quick: SIGTERM ends a run with every row accounted for, and it goes on where it stopped", async () => {
		const half = await halfway(({ child }) => void child.kill("SIGTERM"));
		await stopped(half, 143);
		await goesOn(half, 50, 0);
	});
	test("P3: a run without a terminal goes on when its terminal is closed", async () => {
		const half = await halfway(({ child }) => void child.kill("SIGHUP"));
		expect(half.exit).toBe(0);
		await allThere(half.service, half.state, half.first, 50);
	});
	test("P4: a reader that has seen enough ends no run", async () => {
		const { control, dataset, state, env } = await planned("documented");
		const flags = `-d ${dataset} --json --rate 5000 --state-dir ${state}`;
		const line = `set -o pipefail; $RAGTAG docs tag ${await manifestOf(50, 90_000)} ${flags} | head -1`;
		const ended = await shell(line, env);
		expect({ exit: ended.exit, stderr: ended.exit === 0 ? "" : ended.stderr }).toEqual({ exit: 0, stderr: "" });
		expect([(await outcomesOf(state)).size, control.counts().applied]).toEqual([50, 50]);
		await withoutKeyIn(ended, state);
	});
	test("P5 quick: kill -9 at any moment loses no row and counts none twice", async () => {
		for (const after of [1, 8, 15, 30, 45]) {
			const half = await halfway(({ child }) => void child.kill("SIGKILL"), { after });
			await goesOn(half, 50, 1);
		}
	});
	test("P7 quick: a lid that is closed and opened again costs no row", async () => {
		const half = await halfway(
			async ({ child }) => {
				child.kill("SIGSTOP");
				await wait(2_000);
				child.kill("SIGCONT");
			},
			{ args: ["--timeout", "1s"] },
		);
		expect(half.exit).toBe(0);
		await allThere(half.service, half.state, half.first, 50);
	});
	test("P9 quick: a full disk ends a run, and no row is lost or counted that was not written", async () => {
		const service = await planned("documented");
		const { sandbox, control, dataset, state, env } = service;
		const path = await manifestOf(50, 91_000);
		const flags = `-d ${dataset} --json --rate 5000 --concurrency 4 --state-dir ${state}`;
		// No file may grow beyond 6 KiB. What the documents have takes 4, and the journal of all rows 12.
		const ended = await shell(`ulimit -f 6; $RAGTAG docs tag ${path} ${flags}`, env);
		expect({ exit: ended.exit, stderr: ended.exit === 7 ? "" : ended.stderr }).toEqual({ exit: 7, stderr: "" });
		const summary = summaryOf(ended.stdout);
		expect(summary).toMatchObject({ rows: 50, failed: 0 });
		expect(at(summary, "updated")).toBeGreaterThan(0);
		expect(at(summary, "updated")).toBeLessThanOrEqual(control.counts().applied);
		expect(at(summary, "pending")).toBeGreaterThan(0);
		const resumed = await resume(state, sandbox);
		expect([resumed.exit, summaryOf(resumed.stdout)]).toEqual([
			0,
			expect.objectContaining({ updated: 50, pending: 0 }),
		]);
		await allThere(service, state, 91_000, 50);
		await withoutKeyIn(resumed, state);
	});
	test("P11 quick: a state folder that can't be written is reported before anything is sent", async () => {
		const { sandbox, control, dataset } = await serviceOf("documented");
		control.reset();
		const blocked = await folder();
		await writeFile(join(blocked, "runs"), "");
		const states = [await file("a-file", ""), "/dev/null/state", blocked];
		for (const state of states) {
			const argv = ["docs", "tag", await manifestOf(3, 1), "-d", dataset, "--json", "--state-dir", state];
			const ended = await program(argv, envOf(sandbox));
			expect([2, 7]).toContain(ended.exit);
			expect({ state, applied: control.counts().applied }).toEqual({ state, applied: 0 });
		}
	});
	test("P12 quick: a report that can't be written is named, and can be made again", async () => {
		const faults = [{ fault: "status", status: 400, row: 3 }];
		const { state, stderr, service } = await trial("documented", {
			faults,
			exit: 1,
			failed: { 3: "HTTP_400" },
			args: ["--failed", "/dev/full"],
		});
		expect(stderr).toContain("/dev/full");
		const again = join(await folder(), "failed.csv");
		const reported = await program(["runs", "report", "--failed", again, "--state-dir", state], envOf(service.sandbox));
		expect([0, 1]).toContain(reported.exit);
		expect(await readFile(again, "utf8")).toContain(idOf(3));
	});
	test("P12: a summary that can't be kept is a fault of the storage, and every row is still recorded", async () => {
		const half = await halfway(async (_, { state }) => {
			await mkdir(join(dirname(await journalOf(state)), "summary.json"));
		});
		expect([half.exit, half.stderr]).toEqual([7, expect.stringContaining("summary.json")]);
		expect(summaryOf(half.stdout)).toMatchObject({ rows: 50, updated: 50, exit_code: 7 });
		await allThere(half.service, half.state, half.first, 50);
	});
	test("P13: a journal that is removed or written by another under a run ends it, and nothing counts that is not in it", async () => {
		const meddles = [
			async (path: string) => rm(path),
			async (path: string) => appendFile(path, "not ours\n"),
			async (path: string) => truncate(path, 10),
		];
		for (const meddle of meddles) {
			const half = await halfway(async (_, { state }) => meddle(await journalOf(state)));
			expect([5, 7]).toContain(half.exit);
			expect(summaryOf(half.stdout)).toMatchObject({ rows: 50, failed: 0 });
			expect(at(summaryOf(half.stdout), "updated")).toBeLessThanOrEqual(half.service.control.counts().applied);
		}
	});
	test("P13 quick: a record that is moved or removed under a run ends it, and no command is advised that would not find it", async () => {
		const meddles = [
			async (path: string) => rename(dirname(path), `${dirname(path)}-moved`),
			async (path: string) => rm(dirname(path), { recursive: true }),
			async (path: string) => rm(join(dirname(path), "run.json")),
		];
		for (const meddle of meddles) {
			const half = await halfway(async (_, { state }) => meddle(await journalOf(state)));
			expect([half.exit, half.stderr]).toEqual([7, expect.stringContaining("another program moved or removed")]);
			expect(half.stderr).toContain("was moved, move it back: then the run can be resumed, verified and undone");
			expect(half.stderr).not.toContain("ragtag runs");
			expect(summaryOf(half.stdout)).toMatchObject({ rows: 50, failed: 0, resume: null, undo: null, exit_code: 7 });
		}
	});
	test("P13: a record that is moved back is gone on with", async () => {
		const half = await halfway(async (_, { state }) => {
			const record = dirname(await journalOf(state));
			await rename(record, `${record}-moved`);
		});
		expect(half.exit).toBe(7);
		const [moved = ""] = (await readdir(join(half.state, "runs"))).filter((name) => name.endsWith("-moved"));
		await rename(join(half.state, "runs", moved), join(half.state, "runs", moved.replace("-moved", "")));
		await goesOn(half, 50, 1);
	});
	test("P14: a journal that is cut anywhere in its last record loses that record alone", async () => {
		for (const cut of [1, 7, 40, 80]) {
			const half = await killed();
			const path = await journalOf(half.state);
			const text = await readFile(path, "utf8");
			await truncate(path, Buffer.byteLength(text) - cut);
			// What was cut off goes out again.
			await goesOn(half, 50, 2);
		}
	});
	test("P15: a flipped bit in the middle of a journal is never a wrong count: refused, and then repaired", async () => {
		const half = await killed();
		const path = await journalOf(half.state);
		const good = await readFile(path);
		const { sandbox } = half.service;
		// In the third record: the first is the header.
		const third = good.indexOf("\n", good.indexOf("\n") + 1) + 1;
		for (const offset of [0, 8, 20, 30]) {
			const bad = Buffer.from(good);
			bad[third + offset] = (bad[third + offset] ?? 0) ^ 1;
			await writeFile(path, bad);
			const refused = await resume(half.state, sandbox);
			expect({ offset, exit: refused.exit }).toEqual({ offset, exit: 7 });
			expect(refused.stderr).toContain("repair");
		}
		const repaired = await program(["runs", "repair", "--state-dir", half.state], envOf(sandbox));
		expect([repaired.exit, repaired.stdout]).toEqual([0, expect.stringContaining("lost")]);
		await goesOn(half, 50, 2);
	});
	test("P16: zeros or garbage behind a journal, as a power loss leaves them, lose no row", async () => {
		for (const tail of [Buffer.alloc(4096), Buffer.from("\u0001garbage without an end")]) {
			const half = await killed();
			await appendFile(await journalOf(half.state), tail);
			await goesOn(half, 50, 1);
		}
	});
	test("P17: a wall clock that jumps by hours shortens no wait and ends no run", async () => {
		const jumps =
			"const now=Date.now.bind(Date);let by=0;Date.now=()=>now()+by;" +
			"setInterval(()=>{by=by>0?-36e5:36e5},40).unref()";
		const { arrivals } = await trial("documented", {
			faults: [{ fault: "throttle", seconds: 1, row: 5, tries: 2 }],
			rows: 6,
			exit: 0,
			args: ["--concurrency", "1", "--max-duration", "60s"],
			env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(jumps)}` },
		});
		for (const { time } of arrivals.filter(({ status }) => status === 429)) {
			expect(arrivals.filter((other) => other.time > time && other.time < time + 1000)).toEqual([]);
		}
	});
	test("P18 quick: of many starts of the same run one is sent, and the others say who is at it", async () => {
		const delay = { fault: "delay", milliseconds: 300, on: { method: "PUT" } };
		const { control, dataset, state, env } = await planned("documented", [delay]);
		const path = await manifestOf(40, 93_000);
		const argv = ["docs", "tag", path, "-d", dataset, "--json", "--concurrency", "2", "--state-dir", state];
		const all = await Promise.all(range(8).map(() => bounded(start(argv, env))));
		expect(all.map(({ exit }) => exit).toSorted((a, b) => a - b)).toEqual([0, 5, 5, 5, 5, 5, 5, 5]);
		expect(control.counts().applied).toBe(40);
		for (const ended of all) await withoutKeyIn(ended, state);
	});
	test("P19 quick: a lock that a killed run left keeps no other run out", async () => {
		const half = await killed();
		// One of the content, one of the path.
		expect(await readdir(join(half.state, "runs", ".locks"))).toHaveLength(2);
		const again = await half.again(["--resume"]);
		expect([again.exit, summaryOf(again.stdout)]).toEqual([0, expect.objectContaining({ rows: 50, updated: 50 })]);
		await allThere(half.service, half.state, half.first, 50);
	});
	test("P20: the lock of another machine is never taken unasked", async () => {
		const half = await killed();
		const locks = join(half.state, "runs", ".locks");
		const [lock = ""] = await readdir(locks);
		const [name = ""] = await readdir(join(locks, lock));
		const owner = parse(await readFile(join(locks, lock, name), "utf8"));
		await writeFile(join(locks, lock, name), `${JSON.stringify({ ...Object(owner), host: "elsewhere.test" })}\n`);
		const { applied } = half.service.control.counts();
		const refused = await half.again(["--resume"]);
		expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining("--force")]);
		expect(half.service.control.counts().applied).toBe(applied);
		expect((await half.again(["--resume", "--force"])).exit).toBe(0);
		await allThere(half.service, half.state, half.first, 50);
	});
	test("P21: two runs over the same documents both account for all their rows", async () => {
		const { control, dataset, state, env } = await planned("documented");
		const run = async (first: number): Promise<Ended> => {
			const argv = ["docs", "tag", await manifestOf(50, first), "-d", dataset, "--json", "--state-dir", state];
			return bounded(start(argv, env));
		};
		const both = await Promise.all([run(94_000), run(95_000)]);
		for (const { exit, stdout } of both) {
			expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ rows: 50, updated: 50 })]);
		}
		// The first row of each is read back, finds the other's value, and may be sent once more.
		expect(control.counts().applied).toBeGreaterThanOrEqual(100);
	});
	test("P22 quick: a manifest that was edited since is not gone on with", async () => {
		const half = await killed();
		const { applied } = half.service.control.counts();
		const text = await readFile(half.manifest, "utf8");
		const [head = "", ...lines] = text.trimEnd().split("\n");
		const edits = [
			text.replace(/\d\n$/, "0\n"),
			`${text}${idOf(60)},1\n`,
			[head, ...lines.toReversed(), ""].join("\n"),
		];
		for (const edit of edits) {
			await writeFile(half.manifest, edit);
			expect((await resume(half.state, half.service.sandbox)).exit).toBe(8);
		}
		expect(half.service.control.counts().applied).toBe(applied);
		await writeFile(half.manifest, text);
		await goesOn(half, 50, 1);
	});
	test("P23: a manifest that changes under a run sends no row that was not checked", async () => {
		const delay = { fault: "delay", milliseconds: 100, on: { method: "PUT" } };
		const padding = "x".repeat(100_000);
		const text = `document_id,n:number,p\n${linesOf(40, (n) => `${idOf(n + 1)},1,${padding}`)}`;
		const changed = text.replaceAll(",1,", ",2,");
		const edits = {
			appended: (path: string) => appendFile(path, `${idOf(50)},2,x\n`),
			truncated: (path: string) => truncate(path, 300_000),
			replaced: async (path: string) => {
				await writeFile(`${path}.new`, changed);
				await rename(`${path}.new`, path);
			},
			overwritten: async (path: string) => {
				const handle = await open(path, "r+");
				await handle.write(changed);
				await handle.close();
			},
		};
		for (const [name, edit] of Object.entries(edits)) {
			const { control, dataset, state, env } = await planned("documented", [delay]);
			const path = await file("tags.csv", text);
			const argv = ["docs", "tag", path, "-d", dataset, "--json", "--chunk", "1", "--concurrency", "1"];
			const running = start([...argv, "--state-dir", state], env);
			await expect.poll(() => control.counts().applied).toBeGreaterThan(3);
			await edit(path);
			const ended = await bounded(running);
			// A file that was replaced is still there for who has it open; what is appended was not promised.
			expect({ name, exit: ended.exit }).toEqual({
				name,
				exit: name === "truncated" || name === "overwritten" ? 8 : ended.exit,
			});
			expect([0, 8]).toContain(ended.exit);
			const summary = summaryOf(ended.stdout);
			expect(summary).toMatchObject({ rows: 40, failed: 0 });
			const stored = control.ledger().filter((entry) => entry.type === "applied");
			expect(at(summary, "updated")).toBeLessThanOrEqual(stored.length);
			expect(stored.some((entry) => entry.type === "applied" && entry.document === idOf(50))).toBe(false);
			await withoutKeyIn(ended, state);
		}
	});
	test("P24 quick: a manifest that came through a pipe is still there after a crash", async () => {
		const half = await halfway(({ child }) => void child.kill("SIGKILL"), { stdin: true });
		await goesOn(half, 50, 1);
	});
	test("P25: a journal of a newer version is left alone", async () => {
		const half = await killed();
		const path = await journalOf(half.state);
		const [header = "", ...rest] = (await readFile(path, "utf8")).split("\n");
		const covered = header.slice(header.indexOf(" ") + 1).replace('"version":2', '"version":3');
		const newer = `${crc32(covered).toString(16).padStart(8, "0")} ${covered}`;
		await writeFile(path, [newer, ...rest].join("\n"));
		const { applied } = half.service.control.counts();
		const refused = await resume(half.state, half.service.sandbox);
		expect({ exit: refused.exit, applied: half.service.control.counts().applied }).toEqual({ exit: 8, applied });
	});
	test("P26: an uncaught exception is exit 70 without a stack, and loses no row", async () => {
		const boom = 'setTimeout(()=>{throw new Error("boom")},4000)';
		const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(boom)}` };
		const half = await halfway(() => undefined, { after: 4, env, args: ["--rate", "5"] });
		expect([half.exit, half.stderr]).toEqual([70, expect.stringContaining("a fault of the program itself: boom")]);
		expect(half.stderr).not.toMatch(/^\s+at /m);
		await goesOn(half, 50, 1);
	});
	test("P27: a slow reader of standard error holds no run up", async () => {
		const { control, dataset, state, env } = await planned("documented");
		const flags = `-d ${dataset} --json --debug --rate 5000 --state-dir ${state}`;
		const line = `$RAGTAG docs tag ${await manifestOf(50, 96_000)} ${flags} 2> >(sleep 2; cat > /dev/null)`;
		const ended = await shell(line, env);
		expect([ended.exit, control.counts().applied]).toEqual([0, 50]);
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: 50, updated: 50 });
		await withoutKeyIn(ended, state);
	});
	test("P28: no escape sequence ends up in a log, whatever the terminal and the locale are", async () => {
		const surroundings = [
			{ TERM: "dumb", LANG: "C" },
			{ TERM: "xterm-256color", TZ: "Asia/Kathmandu" },
			{ CI: "1", COLUMNS: "20" },
		];
		for (const env of surroundings) {
			const { stderr } = await trial("documented", {
				faults: [{ fault: "status", status: 400, row: 3 }],
				exit: 1,
				failed: { 3: "HTTP_400" },
				env,
			});
			expect(stderr).not.toContain("\u001b");
		}
	});
	test("P30: without a home folder a run needs no more than --state-dir", async () => {
		for (const env of [{ HOME: "/nonexistent" }, { HOME: "" }, { HOME: "/dev/null", XDG_CONFIG_HOME: "/dev/null" }]) {
			await trial("documented", { faults: [], exit: 0, env });
		}
		const { sandbox, control, dataset } = await serviceOf("documented");
		control.reset();
		const argv = ["docs", "tag", await manifestOf(3, 1), "-d", dataset, "--json"];
		const ended = await program(argv, { ...envOf(sandbox), HOME: "/dev/null", XDG_STATE_HOME: "/dev/null/state" });
		expect([2, 7]).toContain(ended.exit);
		expect(control.counts().applied).toBe(0);
	});
});
