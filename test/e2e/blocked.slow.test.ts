import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, onTestFinished } from "vitest";
import { says } from "../support/ended.ts";
import { COMMAND, environment, type Running, shell, start, startOpen } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, KEY, serve } from "../support/service.ts";

/** A pipe in a folder, which nobody ever writes. */
async function pipe(): Promise<string> {
	const path = join(await folder(), "pipe");
	execFileSync("mkfifo", [path]);
	return path;
}

const tags = (): Promise<string> => file("tags.csv", "document_id,a\none,1\n");
const HERE = { RAGTAG_BASE_URL: "http://127.0.0.1:9", RAGTAG_API_KEY: KEY };

/** An id, so that the service is not asked for a dataset of that name. */
const DATASET = "d".repeat(32);

type Place = { readonly running: Running; readonly path?: string };

/** Everywhere that the program waits for something that never comes. */
const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
	"a pipe as manifest": async () => {
		const path = await pipe();
		return { path, running: startOpen(["manifest", "check", path, "-d", DATASET]) };
	},
	"a pipe as schema": async () => {
		const path = await pipe();
		return { path, running: startOpen(["manifest", "check", await tags(), "-d", DATASET, "--schema", path]) };
	},
	"a pipe as file of certificates": async () => {
		const path = await pipe();
		return { path, running: startOpen(["datasets", "list", "--ca-file", path], HERE) };
	},
	"a pipe as key file": async () => {
		const path = await pipe();
		const { RAGTAG_BASE_URL } = HERE;
		return { path, running: startOpen(["datasets", "list", "--api-key-file", path], { RAGTAG_BASE_URL }) };
	},
	"a pipe as file of profiles": async () => {
		const home = await folder();
		await mkdir(join(home, "ragtag"));
		const path = join(home, "ragtag", "config.yaml");
		execFileSync("mkfifo", ["-m", "600", path]);
		return { path, running: startOpen(["datasets", "list", "--profile", "p"], { XDG_CONFIG_HOME: home }) };
	},
	"a pipe as plan": async () => {
		const path = await pipe();
		return { path, running: startOpen(["docs", "apply", path], HERE) };
	},
	"standard input as manifest": () =>
		Promise.resolve({ running: startOpen(["manifest", "check", "-", "-d", DATASET]) }),
	"standard input as key": () =>
		Promise.resolve({
			running: startOpen(["datasets", "list", "--api-key-file", "-"], { RAGTAG_BASE_URL: HERE.RAGTAG_BASE_URL }),
		}),
	"a key command that never ends": async () => {
		const home = await folder();
		await mkdir(join(home, "ragtag"));
		const config = join(home, "ragtag", "config.yaml");
		execFileSync("sh", ["-c", `umask 077; cat > '${config}'`], {
			input: "profiles: {p: {base_url: 'http://127.0.0.1:9', api_key_command: exec sleep 60}}\n",
		});
		return { running: startOpen(["datasets", "list", "--profile", "p"], { XDG_CONFIG_HOME: home }) };
	},
	"a service that never answers a list": async () => {
		const service = await serve(1, { faults: { faults: [{ fault: "silence" }] } });
		return { running: start(["datasets", "list"], envOf(service)) };
	},
	"a service that never answers an update": async () => {
		const service = await serve(3, { faults: { faults: [{ fault: "silence", on: { method: "PUT" } }] } });
		const [id = ""] = await service.ids();
		const path = await file("tags.csv", `document_id,a\n${id},1\n`);
		return { running: start(["docs", "tag", path, "-d", service.dataset, "--flavour", "documented"], envOf(service)) };
	},
};

const onLinux = process.platform === "linux";
const onTerminal = spawnSync("script", ["--version"]).status === 0;
const SIGHUP_CAUGHT = 1n;

/** Resolves when the program listens to signals, and holds the pipe open that it is to wait for. */
async function waiting({ running, path }: Place): Promise<void> {
	const pid = running.child.pid ?? 0;
	const isThere = (): boolean => listens(pid) && (path === undefined || holds(pid, path));
	await expect.poll(isThere).toBe(true);
	// What it waits for has no sign of its own: time to come there.
	if (path === undefined) await new Promise((resolve) => setTimeout(resolve, 700));
}

/** Node itself listens to SIGINT and SIGTERM from its start, but not to SIGHUP: that is the program. */
function listens(pid: number): boolean {
	const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
	return (BigInt(`0x${caught}`) & SIGHUP_CAUGHT) !== 0n;
}

function holds(pid: number, path: string): boolean {
	return readdirSync(`/proc/${pid}/fd`).some((fd) => {
		try {
			return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
		} catch {
			return false;
		}
	});
}

/** Milliseconds until it is gone. One that stays is killed, and fails. */
async function gone(running: Running, longest: number): Promise<number> {
	const begin = performance.now();
	const timer = setTimeout(() => running.child.kill("SIGKILL"), longest);
	await running.ended;
	clearTimeout(timer);
	return performance.now() - begin;
}

describe.skipIf(!onLinux)(
	`a program that waits for something that never comes${onLinux ? "" : " (skipped: needs /proc)"}`,
	() => {
		it.each(Object.keys(PLACES))("%s: a second signal ends the program at once, without SIGKILL", async (name) => {
			const place = await PLACES[name]?.();
			if (place === undefined) throw new Error("no such place");
			await waiting(place);
			const { child, err, ended } = place.running;
			child.kill("SIGINT");
			await place.running.until((_out, text) => text.includes("SIGINT: stopping")).catch(() => undefined);
			child.kill("SIGTERM");
			await gone(place.running, 20_000);
			// 130 where it had stopped in order before the second one came.
			expect([130, 143]).toContain((await ended).exit);
			expect(err()).toContain(
				"ragtag: SIGINT: stopping; waiting up to 5 s for requests in flight. Press Ctrl-C again to quit now.\n",
			);
			if ((await ended).exit === 143) expect(err()).toContain("second signal, SIGTERM: quitting now.");
		});

		it("one signal ends the program within about 5 seconds, wherever it waits", async () => {
			const places = await Promise.all(Object.values(PLACES).map((open) => open()));
			await Promise.all(places.map(waiting));
			for (const { running } of places) running.child.kill("SIGTERM");
			const times = await Promise.all(places.map(({ running }) => gone(running, 30_000)));
			const exits = await Promise.all(places.map(async ({ running }) => (await running.ended).exit));
			expect(exits).toEqual(places.map(() => 143));
			// The program's own limit is 7 s; the rest is for a machine that is busy.
			expect(Math.max(...times)).toBeLessThan(15_000);
			for (const { running } of places) expect(running.err()).toContain("SIGTERM: stopping; waiting up to 5 s");
		});
	},
);

it("a named pipe in place of a sidecar is a problem of that file and blocks nothing", async () => {
	const at = await folder();
	execFileSync("mkfifo", [join(at, "a.txt.meta.json")]);
	await shell(`echo text > '${join(at, "a.txt")}'`);
	const running = start(["docs", "resolve", join(at, "a.txt"), "-d", DATASET, "--match", "sidecar"], HERE);
	await gone(running, 20_000);
	await says(running.ended, 3, "cannot be read: it is no regular file");
});

it.each([
	"docs apply",
	`docs tag -d ${DATASET}`,
	`docs tag -d ${DATASET} tags.csv --schema`,
	"datasets list --ca-file",
])("%s refuses a device that never ends, and does not read it", async (command) => {
	const path = await tags();
	const argv = command.split(" ").map((word) => (word === "tags.csv" ? path : word));
	const running = start([...argv, "/dev/zero"], HERE);
	await gone(running, 20_000);
	await says(running.ended, 2, "no", /\/dev\/zero.*(?:is not a|is no) regular file/);
});

it.skipIf(!onTerminal || !onLinux)(
	`the question of rm: a signal is an answer, and nothing is removed${onTerminal ? "" : " (skipped: there is no program `script`)"}`,
	async () => {
		const service = await serve(1);
		const [id = ""] = await service.ids();
		const home = await folder();
		const pid = join(home, "pid");
		const command = `echo $$ > ${pid}; exec ${COMMAND.join(" ")} docs rm --id ${id} -d ${service.dataset}`;
		const env = environment({ ...envOf(service), SHELL: "/bin/bash" });
		const child = spawn("script", ["-qefc", command, "/dev/null"], { env, stdio: ["pipe", "pipe", "ignore"] });
		onTestFinished(() => void child.kill("SIGKILL"));
		const ended = once(child, "exit");
		let shown = "";
		child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
		const asked = (): Promise<string> => readFile(pid, "utf8").catch(() => "");
		await expect.poll(asked).toMatch(/\d\n/);
		const signals = (): boolean => listens(Number(readFileSync(pid, "utf8")));
		await expect.poll(signals).toBe(true);
		await expect.poll(() => shown).toContain("Type yes: ");
		process.kill(Number(await readFile(pid, "utf8")), "SIGINT");
		expect(await ended).toEqual([130, null]);
		expect(await service.ids()).toEqual([id]);
	},
);
