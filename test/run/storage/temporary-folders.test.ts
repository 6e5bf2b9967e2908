import { chmod, chown, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import { TemporaryFolders } from "../../../src/run/storage/temporary-folders.ts";
import { folder } from "../../support/service.ts";

const processes = { pid: process.pid, isRunning: () => true };
const user = { uid: -1, note: () => undefined };

const put = async (shared: string, name: string, daysAgo: number): Promise<void> => {
	await mkdir(join(shared, name), { recursive: true });
	await writeFile(join(shared, name, "manifest"), "a copy");
	const time = Date.now() / 1000 - daysAgo * 86_400;
	await utimes(join(shared, name), time, time);
};

it("the next start removes the copies of a killed process and keeps those of a running one", async () => {
	const state = await folder();
	const shared = join(state, "tmp");
	const begin = async (): Promise<string> =>
		basename(await new TemporaryFolders(processes, user).of(state, "--state-dir"));
	const own = await begin();
	// No process has an id as large.
	const killed = own.replace(/^of-\d+-/, "of-99999999-");
	const again = own.replace(/^of-(\d+)-(\d+|x)-/, "of-$1-1-");
	const elsewhere = own.replace(/-[0-9a-f]{12}-/, "-000000000000-");
	for (const name of [killed, again, elsewhere, "ragtag-of-0.1.0"]) await put(shared, name, 1);
	await put(shared, `${elsewhere.slice(0, -2)}ff`, 8);
	await put(shared, "ragtag-plan-of-0.1.0", 8);
	const next = await begin();
	// Where the system does not tell when a process began, one with its id is taken for it.
	const left = own.includes("-x-") ? [again] : [];
	expect((await readdir(shared)).toSorted()).toEqual([own, next, elsewhere, "ragtag-of-0.1.0", ...left].toSorted());
});

// Only root can give a folder to another user.
it.skipIf(process.getuid?.() !== 0)(
	"what another user has in the folder for temporary files is left alone and stops no command",
	async () => {
		const state = await folder();
		const shared = join(state, "tmp");
		const own = basename(await new TemporaryFolders(processes, user).of(await folder(), "--state-dir"));
		const foreign = [own.replace(/^of-\d+-/, "of-99999999-"), "4711"];
		for (const name of foreign) {
			await put(shared, name, 30);
			await chown(join(shared, name), 1234, 1234);
		}
		await chmod(shared, 0o755);
		const folders = new TemporaryFolders(processes, { uid: 0, note: () => undefined });
		const path = await folders.of(state, "--state-dir");
		expect((await readdir(shared)).toSorted()).toEqual([basename(path), ...foreign].toSorted());
	},
);

it("temporary files are removed at the end, and a folder that can't be made is named", async () => {
	const state = await folder();
	const folders = new TemporaryFolders(processes, user);
	const path = await folders.of(state, "--state-dir");
	expect(await folders.of(state, "--state-dir")).toBe(path);
	await writeFile(join(path, "copy"), "");
	await folders.close();
	expect(await readdir(join(state, "tmp"))).toEqual([]);
	await writeFile(join(state, "file"), "");
	const wrong = folders.of(join(state, "file"), "--state-dir");
	await expect(wrong).rejects.toMatchObject({ exit: 2, message: expect.stringContaining(join(state, "file")) });
});
