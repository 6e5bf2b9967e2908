import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
	type CurrentUser,
	securePrivateFolder,
	readPrivateFile,
	secureStateFolder,
} from "../../../src/run/storage/private-folders.ts";
import { RunStore } from "../../../src/run/recorded/run-store.ts";
import { lockContent } from "../../../src/run/recorded/run-lock.ts";
import { processesHere } from "../../../src/run/storage/process-owner.ts";
import { folder } from "../../support/service.ts";

const { uid } = userInfo();
const notes: string[] = [];
const me: CurrentUser = { uid, note: (text) => void notes.push(text) };

/** Neither the owner of what the tests make nor root, unless root runs them: then the owner's files are root's. */
const someone: CurrentUser = { uid: uid + 4711, note: () => undefined };

const processes = processesHere({ pid: 1, isRunning: () => true });

const made = async (...modes: readonly (readonly [string, number])[]): Promise<string> => {
	const state = await folder();
	await chmod(state, 0o700);
	for (const [name, mode] of modes) {
		const path = join(state, name);
		if (name.endsWith(".json")) await writeFile(path, "{}");
		else await mkdir(path);
		await chmod(path, mode);
	}
	return state;
};

const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

it("the program's folder that others can write is closed to them, with a warning", async () => {
	const state = await made(["runs", 0o777]);
	securePrivateFolder(join(state, "runs"), me);
	expect(await mode(join(state, "runs"))).toBe("700");
	expect(notes.at(-1)).toContain("its mode is now 0700");
});

it("a folder with a file that others can write is refused and not changed: it may be theirs", async () => {
	const state = await made(["runs", 0o777]);
	const run = join(state, "runs", "run.json");
	await writeFile(run, "{}");
	await chmod(run, 0o666);
	expect(() => securePrivateFolder(join(state, "runs"), me)).toThrow(expect.objectContaining({ exit: 2 }));
	expect(await mode(join(state, "runs"))).toBe("777");
	expect(() => readPrivateFile(run, me)).toThrow(expect.objectContaining({ exit: 2 }));
	await chmod(run, 0o600);
	expect(readPrivateFile(run, me)).toBe("{}");
});

it("a state folder with other things in it is refused, and not closed to those who use it", async () => {
	const state = await made(["runs", 0o700], ["notes", 0o755]);
	await chmod(state, 0o775);
	expect(() => secureStateFolder(state, me)).toThrow(
		expect.objectContaining({ exit: 2, hint: expect.stringContaining("chmod") }),
	);
	expect(await mode(state)).toBe("775");
	await chmod(state, 0o755);
	secureStateFolder(state, me);
	expect(await mode(state)).toBe("755");
});

it("a folder that a link leads to is never changed, and is refused if others can write it", async () => {
	const state = await made(["there", 0o777]);
	await symlink(join(state, "there"), join(state, "runs"));
	expect(() => securePrivateFolder(join(state, "runs"), me)).toThrow(expect.objectContaining({ exit: 2 }));
	expect(await mode(join(state, "there"))).toBe("777");
	await chmod(join(state, "there"), 0o755);
	securePrivateFolder(join(state, "runs"), me);
	expect(await mode(join(state, "there"))).toBe("755");
});

it.skipIf(uid === 0)("anything of another user is refused: folders, runs, locks and records", async () => {
	const state = await made(["runs", 0o700], ["run.json", 0o600]);
	expect(() => securePrivateFolder(state, someone)).toThrow(expect.objectContaining({ exit: 2 }));
	expect(() => readPrivateFile(join(state, "run.json"), someone)).toThrow(expect.objectContaining({ exit: 2 }));
	await expect(new RunStore(state, someone, processes).names()).rejects.toMatchObject({ exit: 2 });
	const target = { baseUrl: "http://127.0.0.1/api/v1", manifest: { sha256: "0" } };
	await expect(
		lockContent(target, { runs: new RunStore(state, someone, processes), force: false }),
	).rejects.toMatchObject({ exit: 2 });
	expect(await readdir(join(state, "runs"))).toEqual([]);
});

it.runIf(uid === 0)("anything of another user is refused: folders, runs, locks and records", async () => {
	const { chown } = await import("node:fs/promises");
	for (const name of [
		"",
		"runs",
		"runs/.locks",
		"runs/20260101T000000-aaaaaa",
		"runs/20260101T000000-aaaaaa/run.json",
	]) {
		const state = await made(["runs", 0o700], ["runs/.locks", 0o700], ["runs/20260101T000000-aaaaaa", 0o700]);
		const record = join(state, "runs/20260101T000000-aaaaaa/run.json");
		await writeFile(record, "{}", { mode: 0o600 });
		await new RunStore(state, me, processes).files();
		await chown(join(state, name), 4711, 4711);
		await expect(new RunStore(state, me, processes).files(), name).rejects.toMatchObject({ exit: 2 });
		expect(await readFile(record, "utf8")).toBe("{}");
	}
});

it("a missing folder has no owner, and a system without owners accepts all", async () => {
	const state = await made(["runs", 0o777]);
	securePrivateFolder(join(state, "none", "runs"), me);
	securePrivateFolder(join(state, "runs"), { ...me, uid: -1 });
	expect(await mode(join(state, "runs"))).toBe("777");
});
