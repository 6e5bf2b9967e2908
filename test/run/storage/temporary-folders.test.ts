import { existsSync } from "node:fs";
import { chown, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import {
	type LockOwner,
	ownerText,
	processesHere,
	thisProcessAsOwner,
} from "../../../src/run/storage/process-owner.ts";
import { temporaryFolderOf } from "../../../src/run/storage/temporary-folders.ts";
import { folder } from "../../support/service.ts";

const processes = processesHere({ pid: process.pid, isRunning: () => true });
const user = { uid: -1, note: () => undefined };
const self = thisProcessAsOwner(processes);

/** A folder with a copy, as a process left it. No process has an id as large as the one of `KILLED`. */
const put = async (shared: string, name: string, owner: LockOwner, daysAgo = 1): Promise<void> => {
	await mkdir(join(shared, name), { recursive: true });
	await writeFile(join(shared, name, "manifest"), "a copy");
	await mkdir(join(shared, `${name}.lock`));
	await writeFile(join(shared, `${name}.lock`, "n"), ownerText(owner));
	const time = Date.now() / 1000 - daysAgo * 86_400;
	await utimes(join(shared, `${name}.lock`), time, time);
};
const KILLED = { ...self, pid: 99_999_999 };
const ELSEWHERE = { ...KILLED, host: "elsewhere" };

const foldersIn = async (shared: string): Promise<string[]> =>
	(await readdir(shared)).filter((name) => !name.endsWith(".lock")).toSorted();

it("the next start removes the copies of a killed process and keeps those of a running one", async () => {
	const state = await folder();
	const shared = join(state, "tmp");
	const begin = async (): Promise<string> =>
		basename(await temporaryFolderOf(processes, user).in(state, "--state-dir"));
	const own = await begin();
	await put(shared, "killed", KILLED);
	await put(shared, "elsewhere", ELSEWHERE);
	await put(shared, "elsewhere-long-ago", ELSEWHERE, 8);
	const next = await begin();
	expect(await foldersIn(shared)).toEqual([own, next, "elsewhere"].toSorted());
});

// Only root can give a folder to another user.
it.skipIf(process.getuid?.() !== 0)(
	"what another user has in the folder for temporary files is left alone and stops no command",
	async () => {
		const state = await folder();
		const shared = join(state, "tmp");
		await put(shared, "foreign", KILLED, 30);
		await chown(join(shared, "foreign.lock"), 1234, 1234);
		const path = await temporaryFolderOf(processes, { uid: 0, note: () => undefined }).in(state, "--state-dir");
		expect(await foldersIn(shared)).toEqual([basename(path), "foreign"].toSorted());
	},
);

it("temporary files are removed at the end, and a folder that can't be made is named", async () => {
	const state = await folder();
	const temporary = temporaryFolderOf(processes, user);
	const path = await temporary.in(state, "--state-dir");
	expect(await temporary.in(state, "--state-dir")).toBe(path);
	await writeFile(join(path, "copy"), "");
	await temporary.close();
	expect(await readdir(join(state, "tmp"))).toEqual([]);
	await writeFile(join(state, "file"), "");
	const wrong = temporaryFolderOf(processes, user).in(join(state, "file"), "--state-dir");
	await expect(wrong).rejects.toMatchObject({ exit: 2, message: expect.stringContaining(join(state, "file")) });
});

it.each([
	["can't be made", "file/state"],
	["has a lock that can't be read", "state"],
])("the folder of the system is used where that of the default state folder %s", async (_, name) => {
	const home = await folder();
	await writeFile(join(home, "file"), "");
	await mkdir(join(home, "state", "tmp", "x.lock", "n"), { recursive: true });
	const temporary = temporaryFolderOf(processes, user);
	const path = await temporary.in(join(home, name), "default");
	expect(dirname(path)).toBe(tmpdir());
	await temporary.close();
	expect(existsSync(path)).toBe(false);
	await expect(temporaryFolderOf(processes, user).in(join(home, name), "--state-dir")).rejects.toThrow();
});
