import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { folder } from "../../support/service.ts";
import { type Lock, Locked, takeLock } from "../../../src/run/storage/lock.ts";
import {
	ownerStateOf,
	type LockOwner,
	ownerText,
	type Processes,
	processesHere,
	readOwner,
} from "../../../src/run/storage/process-owner.ts";

type LockOptions = Parameters<typeof takeLock>[1];

/** Waits for a word, tries to take the lock, says what came of it, and holds it until it is ended. */
const HOLDER = `
import { once } from "node:events";
import { takeLock } from "./src/run/storage/lock.ts";
import { processesHere } from "./src/run/storage/process-owner.ts";
process.stdout.write("ready\\n");
await once(process.stdin, "data");
try {
	const processes = processesHere({ pid: process.pid, isRunning: () => true });
	const lock = await takeLock(process.argv[2], { processes });
	process.stdout.write("taken\\n");
	process.stdin.once("end", () => void lock[Symbol.asyncDispose]());
} catch (error) {
	process.stdout.write(error.name + " " + error.owner?.pid + "\\n");
	process.exit();
}`;

/** Takes the lock 300 times, each time as another process that ends without giving it up. Prints how often it had it. */
const CONTENDER = `
import { closeSync, existsSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { Locked, takeLock } from "./src/run/storage/lock.ts";
const [path, nth] = process.argv.slice(2);
const alive = (pid) => path + ".pid-" + pid;
const machine = { host: "h", boot: null, startOf: (pid) => (existsSync(alive(pid)) ? null : undefined) };
let taken = 0;
for (let turn = 1; turn <= 300; turn++) {
	const pid = Number(nth) * 1000 + turn;
	writeFileSync(alive(pid), "");
	try {
		await takeLock(path, { processes: { pid, ...machine } });
		closeSync(openSync(path + ".held", "wx"));
		unlinkSync(path + ".held");
		taken += 1;
	} catch (error) {
		if (!(error instanceof Locked)) throw error;
	}
	unlinkSync(alive(pid));
}
process.stdout.write(taken + "\\n");`;

async function bundled(contents: string): Promise<string> {
	const root = fileURLToPath(new URL("../../..", import.meta.url));
	const stdin = { contents, resolveDir: root, loader: "ts" } as const;
	const { outputFiles } = await build({ stdin, bundle: true, platform: "node", format: "esm", write: false });
	return outputFiles[0]?.text ?? "";
}

let script = "";
beforeAll(async () => {
	script = await bundled(HOLDER);
});

type Holder = { readonly child: ChildProcess; readonly line: () => Promise<string> };

async function holder(path: string): Promise<Holder> {
	const child = spawn(process.execPath, ["--input-type=module", "-e", script, "--", "-", path], {
		stdio: ["pipe", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	if (child.stdout === null) throw new Error("a pipe was asked for");
	const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
	const line = async (): Promise<string> => String((await lines.next()).value);
	expect(await line()).toBe("ready");
	return { child, line };
}

function go({ child }: Holder): void {
	child.stdin?.write("go\n");
}

const processes = processesHere({ pid: process.pid, isRunning: () => true });

async function take(path: string, more: Partial<LockOptions> = {}): Promise<Lock | Locked> {
	return await takeLock(path, { processes, ...more }).catch((error: unknown) => {
		if (error instanceof Locked) return error;
		throw error;
	});
}

async function path(): Promise<string> {
	return join(await folder(), "run");
}

async function owner(more: Partial<LockOwner> = {}): Promise<LockOwner> {
	const { boot, host } = processes;
	return { pid: 2 ** 22 + 1, start: "1", boot, host, since: "2026-01-02T03:04:05Z", ...more };
}

/** Puts a lock there, as another process left it. */
async function put(at: string, text: string): Promise<void> {
	await mkdir(`${at}.lock`, { mode: 0o700 });
	await writeFile(join(`${at}.lock`, "n"), text);
}

describe("a lock", () => {
	it("goes to exactly one of twenty simultaneous starts, or two runs would send the same rows", async () => {
		const at = await path();
		for (const stale of [false, true]) {
			if (stale) await put(at, ownerText(await owner()));
			const holders = await Promise.all(Array.from({ length: 20 }, () => holder(at)));
			holders.forEach(go);
			const lines = await Promise.all(holders.map(({ line }) => line()));
			const winner = holders[lines.findIndex((line) => line.startsWith("taken"))];
			expect(lines.filter((line) => line.startsWith("taken"))).toEqual(["taken"]);
			expect(lines.filter((line) => line === `Locked ${winner?.child.pid}`)).toHaveLength(19);
			winner?.child.stdin?.end();
			if (winner !== undefined) await once(winner.child, "exit");
			expect(await readdir(join(at, ".."))).toEqual([]);
		}
	});

	it("is taken over from a killed run, or the run could not be resumed", async () => {
		const at = await path();
		const first = await holder(at);
		go(first);
		expect(await first.line()).toBe("taken");
		const refused = await take(at);
		expect(refused).toMatchObject({ name: "Locked", forcible: false, owner: { pid: first.child.pid } });
		first.child.kill("SIGKILL");
		await once(first.child, "exit");
		const lock = await take(at);
		expect(lock).not.toBeInstanceOf(Locked);
		expect(await take(at)).toBeInstanceOf(Locked);
	});

	it("is never taken from a running process, even by force", async () => {
		const at = await path();
		const lock = await take(at);
		if (lock instanceof Locked) throw lock;
		const refused = await take(at, { force: true });
		expect(refused).toMatchObject({
			forcible: false,
			owner: { pid: process.pid, host: hostname() },
			message: expect.stringMatching(/run\.lock is locked by pid \d+ on host .+ since 20/),
		});
		await lock[Symbol.asyncDispose]();
		await lock[Symbol.asyncDispose]();
		const next = await take(at);
		expect(next).not.toBeInstanceOf(Locked);
		// The first one's second release must not open the next one's lock.
		await lock[Symbol.asyncDispose]();
		expect(await take(at)).toBeInstanceOf(Locked);
	});

	it("is readable by its user alone, and names its owner", async () => {
		const at = await path();
		await take(at);
		const [name = ""] = await readdir(`${at}.lock`);
		const file = join(`${at}.lock`, name);
		expect([(await stat(`${at}.lock`)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
		expect(readOwner(await readFile(file, "utf8"))).toMatchObject({
			pid: process.pid,
			start: expect.stringMatching(/^\d+$/),
			boot: expect.stringMatching(/^[0-9a-f-]{36}$/),
			host: hostname(),
		});
	});

	it.each([
		["another host", { host: "elsewhere" }],
		["the same host before it started anew", { boot: "00000000-0000-0000-0000-000000000000" }],
	])("of %s stays unless it is forced: this machine can't know whether that process runs", async (_, other) => {
		const at = await path();
		await put(at, ownerText(await owner(other)));
		expect(await take(at)).toMatchObject({ name: "Locked", forcible: true, owner: other });
		expect(await take(at, { force: true })).not.toBeInstanceOf(Locked);
	});

	it("of a process whose id was reused is taken over", async () => {
		const at = await path();
		await put(at, ownerText(await owner({ pid: process.pid, start: "1" })));
		expect(await take(at)).not.toBeInstanceOf(Locked);
	});

	it.each(["", "{", '{"pid":1}'])("without an owner (%j) is taken over: a loss of power left it", async (text) => {
		const at = await path();
		await put(at, text);
		expect(await take(at)).not.toBeInstanceOf(Locked);
		expect(await take(at)).toMatchObject({ owner: { pid: process.pid } });
	});

	it.each(["before it is in its place", "after the old one was emptied"])(
		"is taken at once although another process was killed while it took it, %s",
		async (when) => {
			const at = await path();
			if (when.startsWith("before")) await put(`${at}.lock.draft`, ownerText(await owner()));
			else await mkdir(`${at}.lock`);
			// A wait would never end.
			vi.useFakeTimers({ toFake: ["setTimeout"] });
			onTestFinished(() => void vi.useRealTimers());
			expect(await take(at)).not.toBeInstanceOf(Locked);
			expect(await take(at)).toBeInstanceOf(Locked);
		},
	);

	it("that is abandoned again and again is never held by two processes", async () => {
		const at = await path();
		const script = await bundled(CONTENDER);
		const all = Array.from({ length: 4 }, async (_, nth) => {
			const argv = ["--input-type=module", "-e", script, "--", "-", at, `${nth}`];
			return Number((await promisify(execFile)(process.execPath, argv)).stdout);
		});
		const taken = await Promise.all(all);
		expect(
			taken.every((count) => count > 0),
			String(taken),
		).toBe(true);
	});
});

describe("a lock on a system without start times", () => {
	it("goes to exactly one of many simultaneous starts", async () => {
		const at = await path();
		await put(at, ownerText(await owner({ host: "mac", boot: null, start: null, pid: 99 })));
		const { pid } = process;
		const mac: Processes = { pid, host: "mac", boot: null, startOf: (other) => (other === pid ? null : undefined) };
		const all = await Promise.all(Array.from({ length: 12 }, () => take(at, { processes: mac })));
		expect(all.filter((each) => !(each instanceof Locked))).toHaveLength(1);
		expect(await readdir(join(at, ".."))).toEqual(["run.lock"]);
	});
});

it("is written with the member that version 0.2.0 needs, which would take over a lock without it", async () => {
	expect(JSON.parse(ownerText(await owner()))).toMatchObject({ nonce: "" });
});

describe("the judgement of a lock's owner", () => {
	const here = { host: "h", boot: "b" };
	const of = (more: Partial<LockOwner>): LockOwner => ({
		pid: 7,
		start: "5",
		since: "t",
		...here,
		...more,
	});
	it.each([
		["running", of({}), "5"],
		["gone", of({}), undefined],
		["gone", of({}), "6"],
		["running", of({ start: null }), "6"],
		["running", of({}), null],
		["elsewhere", of({ host: "x" }), undefined],
		["elsewhere", of({ boot: "x" }), "5"],
		["elsewhere", of({ boot: null }), undefined],
	])("is %s, or a run would be sent twice or never resumed", (verdict, one, start) => {
		expect(ownerStateOf(one, { pid: 1, ...here, startOf: () => start })).toBe(verdict);
	});

	it.skipIf(process.platform !== "linux")("reads a process of any name, and none that has ended", async () => {
		// The shell becomes a program with brackets in its name, which never asks how its child ended.
		const name = join(await folder(), "a) b (c");
		await symlink("/bin/sleep", name);
		const child = spawn("/bin/sh", ["-c", `sleep 0.1 & echo $!; exec '${name}' 60`], {
			stdio: ["ignore", "pipe", "ignore"],
		});
		onTestFinished(() => void child.kill());
		const [ended] = await once(createInterface({ input: child.stdout }), "line");
		const { startOf } = processes;
		await expect.poll(() => readFile(`/proc/${child.pid}/comm`, "utf8")).toBe("a) b (c\n");
		expect(startOf(child.pid ?? 0)).toMatch(/^\d{2,}$/);
		await expect.poll(() => startOf(Number(ended))).toBeUndefined();
	});
});
