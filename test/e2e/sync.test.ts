import { spawnSync } from "node:child_process";
import { chmod, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { says } from "../support/ended.ts";
import { readState, stateText } from "../../src/plan/sync/state.ts";
import { COMMAND, shell, start } from "../support/program.ts";
import type { Ended } from "../support/ragtag.ts";
import { PAPERS, synced, type Synced } from "../support/synced.ts";

/** The scenarios of a folder and a dataset, by the built program. */

/** Root may read anything: then the program runs as a user without files of its own. */
const as = userInfo().uid === 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
const canRun = spawnSync("bash", ["-c", `${as}${COMMAND.join(" ")} --version`]).status === 0;

const WRITES = /^(?:PUT|POST|PATCH|DELETE) /;

const many = (count: number, folder = ""): Record<string, string> =>
	Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}${1000 + n}.txt`, `text ${n}`]));

const built = (files: Readonly<Record<string, string>>, options: Parameters<typeof synced>[1] = {}): Promise<Synced> =>
	synced(files, { ...options, isBuilt: true });

/** The file of the state. */
async function stateOf({ state }: Synced): Promise<string> {
	const [name = ""] = await readdir(join(state, "sync"));
	return join(state, "sync", name);
}

describe.each(["ragflow-0.21", "ragflow-0.25", "ragflow-0.27", "ragflow-1.0"] as const)("on %s", (flavour) => {
	it("1 a second sync writes nothing: list requests and stats alone; 6 hr/a and it/a are two documents", async () => {
		const { sync, contents, service } = await built(PAPERS, { flavour });
		expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 4, uploaded: 4, failed: 0 } });
		expect(await contents()).toEqual(Object.entries(PAPERS));
		const before = service.requests.length;
		expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
		const sent = service.requests.slice(before).map((line) => line.replace(/\?.*/, ""));
		expect(
			sent.filter((line) => !/^GET \/api\/v1\/(?:datasets(?:\/\w+\/documents)?|system\/version)$/.test(line)),
		).toEqual([]);
	});

	it("3 a replacement has the new content, each key of the old document, its name, and is the only one of it; 5 a moved file keeps its id", async () => {
		const { sync, held, ids, service, write, move } = await built(PAPERS, { flavour });
		await sync();
		const before = await ids();
		for (const id of before.values()) await service.put(id, { by_hand: "kept" });
		await write("hr/a.txt", "quite another text");
		await move("hr/b.txt", "new/c.txt");
		expect(await sync("--remove")).toMatchObject({
			exit: 0,
			summary: { replaced: 1, renamed: 1, uploaded: 0, removed: 0 },
		});
		const metadata = { by_hand: "kept" };
		expect(await held()).toEqual([
			{ name: "hr/a.txt", metadata, content: "quite another text" },
			{ name: "it/a.txt", metadata, content: "a of it" },
			{ name: "new/c.txt", metadata, content: "b of hr" },
			{ name: "top.md", metadata, content: "top" },
		]);
		expect((await ids()).get("new/c.txt")).toBe(before.get("hr/b.txt"));
	});
});

it("2 a touch of all writes nothing, an edit of equal size is one replacement, one of equal time is found by --checksum", async () => {
	const { sync, contents, service, touch, write, root } = await built(PAPERS);
	await sync();
	const before = service.requests.length;
	for (const path of Object.keys(PAPERS)) await touch(path);
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 4, unchanged: 4 } });
	expect(service.requests.slice(before).filter((line) => WRITES.test(line))).toEqual([]);
	await write("hr/a.txt", "A of hr");
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 1, replaced: 1 } });
	const [path, time] = [join(root, "hr/b.txt"), new Date("2026-01-01T00:00:00Z")];
	await utimes(path, time, time);
	await sync();
	await write("hr/b.txt", "B of hr");
	await utimes(path, time, time);
	// The inode is the same as well: nothing but the content shows it.
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
	expect(await sync("--checksum")).toMatchObject({ exit: 0, summary: { rows: 1, replaced: 1 } });
	expect(await contents()).toEqual(Object.entries({ ...PAPERS, "hr/a.txt": "A of hr", "hr/b.txt": "B of hr" }));
});

it("6 of two files of equal content, one is deleted and the other stays", async () => {
	const { sync, contents, remove } = await built({ "a.txt": "same", "b.txt": "same" });
	await sync();
	await remove("a.txt");
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { removed: 1 } });
	expect(await contents()).toEqual([["b.txt", "same"]]);
});

describe("8 nothing is removed, the exit is not 0, and the reason is said", () => {
	/** A synced folder of which a file is gone. */
	async function gone(files: Readonly<Record<string, string>> = PAPERS): Promise<Synced> {
		const here = await built(files);
		expect((await here.sync()).exit).toBe(0);
		await here.remove("top.md");
		return here;
	}

	it.each<[string, number, string, (here: Synced) => Promise<unknown>]>([
		["is empty", 2, "Is it mounted?", ({ remove }) => Promise.all(["hr", "it"].map((path) => remove(path)))],
		[
			"is on another device",
			9,
			"Is it mounted?",
			async (here) => {
				const path = await stateOf(here);
				const state = readState(await readFile(path, "utf8"));
				if (state !== undefined) await writeFile(path, stateText({ ...state, device: 1 }));
			},
		],
		[
			"has a file that can't be read",
			1,
			"1 are not removed: 1 file or folder is not readable",
			({ root }) => symlink("/nowhere", join(root, "hr/lost.txt")),
		],
	])("where the folder %s", async (_, exit, reason, make) => {
		const here = await gone();
		await make(here);
		const before = here.service.requests.length;
		const ended = await here.sync("--remove", "--follow");
		expect([ended.exit, ended.stderr]).toEqual([exit, expect.stringContaining(reason)]);
		expect(here.service.requests.slice(before).filter((line) => WRITES.test(line))).toEqual([]);
		expect((await here.contents()).length).toBe(4);
	});

	it.skipIf(process.platform !== "linux")("where reading a file fails", async () => {
		const { root, sync, contents } = await gone();
		// The memory of a process opens like a file, and its first byte can't be read.
		await symlink("/proc/self/mem", join(root, "hr/mem.txt"));
		const ended = await sync("--remove", "--follow");
		expect([ended.exit, ended.stdout]).toEqual([1, expect.stringContaining('"error_code":"FILE_UNREADABLE"')]);
		expect((await contents()).length).toBe(4);
	});

	it.skipIf(!canRun)("where a folder can't be read, or its files not", async () => {
		const { root, home, service, env, contents } = await built(PAPERS);
		for (const path of [root, home]) spawnSync("chown", ["-R", "65534", path]);
		const sync = (): Promise<Ended> => shell(`${as}$RAGTAG docs sync ${root} -d ${service.dataset} --remove`, env);
		expect((await sync()).exit).toBe(0);
		await rm(join(root, "top.md"));
		for (const mode of [0, 0o444]) {
			await chmod(join(root, "hr"), mode);
			await says(sync(), 1, "1 are not removed");
		}
		expect((await contents()).length).toBe(4);
	});

	it("where a file vanishes while others are stored", async () => {
		const { root, service, env, write, remove, contents } = await gone();
		for (const name of ["a", "b", "z"]) await write(`new/${name}.txt`, `new ${name}`);
		const words = ["docs", "sync", root, "-d", service.dataset, "--remove", "--concurrency", "1", "--rate", "10"];
		const stored = (): number => service.requests.filter((line) => /^POST .*\/documents /.test(line)).length;
		const before = stored();
		const running = start(words, env);
		while (stored() === before) await setTimeout(5);
		await remove("new/z.txt");
		await says(running.ended, 1, "CHANGED_MEANWHILE");
		expect((await contents()).map(([name]) => name)).toEqual([
			"hr/a.txt",
			"hr/b.txt",
			"it/a.txt",
			"new/a.txt",
			"new/b.txt",
			"top.md",
		]);
	});
});

it("11 of two syncs at once, one ends with exit 5, and no file is stored twice", async () => {
	const { sync, contents } = await built(many(40), { latency: 5 });
	const ended = await Promise.all([sync(), sync()]);
	expect(new Set(ended.map(({ exit }) => exit))).toEqual(new Set([0, 5]));
	expect((await contents()).map(([name]) => name)).toEqual(Object.keys(many(40)));
});
