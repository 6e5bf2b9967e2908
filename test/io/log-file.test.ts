import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import { file, folder, KEY } from "../support/service.ts";
import { ioOn } from "./terminal.ts";

const begins = "ragtag docs tag";

it("a log has messages, errors and progress with times, also with --quiet, and no key", async () => {
	const path = join(await folder(), "ragtag.log");
	const { io, timers, stderr } = ioOn();
	io.hide(KEY);
	await io.configure({ quiet: true, log: { path, begins } });
	io.note("a note\nof two lines");
	io.err(`the key ${KEY} was refused`);
	io.debug("not asked for");
	io.follow(() => ({ state: "slowed", cause: "429 at 61/s", seconds: 1, rate: { now: 31, cap: 100 } }));
	const rows = io.progress();
	rows.update({ done: 5, total: 10, failed: 0 });
	timers.pass(5000);
	rows.stop();
	io.end("exit 1");
	expect((await readFile(path, "utf8")).split("\n")).toEqual([
		"2026-11-22T00:00:00.000Z begin: ragtag docs tag",
		"2026-11-22T00:00:00.000Z note: a note",
		"2026-11-22T00:00:00.000Z note: of two lines",
		"2026-11-22T00:00:00.000Z error: the key *** was refused",
		"2026-11-22T00:00:05.000Z progress: 5/10 rows 50%  31/s of 100/s: 429 at 61/s",
		"2026-11-22T00:00:05.000Z end: exit 1",
		"",
	]);
	expect(stderr.text).toBe("the key *** was refused\n");
});

it("a new log is open to its owner alone, an old one keeps its rights and what it has", async () => {
	const path = join(await folder(), "ragtag.log");
	for (const mode of [0o600, 0o644]) {
		const { io } = ioOn();
		await io.configure({ log: { path, begins } });
		io.end("exit 0");
		expect((await stat(path)).mode & 0o777).toBe(mode);
		await chmod(path, 0o644);
	}
	expect((await readFile(path, "utf8")).match(/begin: /g)).toHaveLength(2);
});

it("a log that can't be opened ends the command before anything is sent", async () => {
	const { io } = ioOn();
	const path = join(await folder(), "missing", "ragtag.log");
	await expect(io.configure({ log: { path, begins } })).rejects.toMatchObject({ exit: 2 });
	await expect(io.configure({ log: { path: await folder(), begins } })).rejects.toMatchObject({ exit: 2 });
	// In a folder of others, a link would lead to a file of this user.
	const [target, link] = [await file("target", ""), join(await folder(), "link")];
	await symlink(target, link);
	const isLink = { exit: 2, message: expect.stringContaining("is a link to another file") };
	await expect(io.configure({ log: { path: link, begins } })).rejects.toMatchObject(isLink);
	expect(await readFile(target, "utf8")).toBe("");
});

it.skipIf(process.platform !== "linux")("a log that can't be written is told once, and is exit 74", async () => {
	const { io, stderr } = ioOn();
	await io.configure({ log: { path: "/dev/full", begins } });
	io.note("a note");
	io.note("another");
	expect(stderr.text).toBe(
		"ragtag: --log-file /dev/full: no space left on device; the command goes on without it\na note\nanother\n",
	);
	expect(io.outputFailure).toBe("--log-file /dev/full: no space left on device");
});
