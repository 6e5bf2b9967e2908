import { chmod, chown, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { isExecutable, program } from "../support/program.ts";
import { folder } from "../support/service.ts";

const LISTED = { exit: 0, stderr: "" };

async function kept(caches: string): Promise<readonly string[]> {
	const folder = join(caches, "ragtag", "code");
	return readdir(folder).then(
		(names) => names.map((name) => join(folder, name)),
		() => [],
	);
}

const list = (caches: string, env: Readonly<Record<string, string>> = {}): Promise<object> =>
	program(["runs", "list"], { XDG_CACHE_HOME: caches, ...env });

// The executable brings its compiled code inside.
describe.skipIf(isExecutable)("compiled code between calls", () => {
	it("is kept for the user alone, a file for each command, and is not written again", async () => {
		const caches = await folder();
		expect(await list(caches)).toMatchObject(LISTED);
		const [path = "", ...others] = await kept(caches);
		expect(others).toEqual([]);
		expect(path).toMatch(/\/runs-list\.code$/);
		expect((await stat(path)).mode & 0o777).toBe(0o600);
		expect((await stat(join(caches, "ragtag", "code"))).mode & 0o777).toBe(0o700);
		const { mtimeMs } = await stat(path);
		expect(await list(caches)).toMatchObject(LISTED);
		expect((await stat(path)).mtimeMs).toBe(mtimeMs);
		await program(["manifest", "check", "/nonexistent.csv"], { XDG_CACHE_HOME: caches });
		expect((await kept(caches)).length).toBe(2);
	});

	it("is kept by a command that sends requests too, although those change flags of V8", async () => {
		const caches = await folder();
		const env = { RAGTAG_BASE_URL: "http://127.0.0.1:9", RAGTAG_API_KEY: "key-0123456789", XDG_CACHE_HOME: caches };
		expect((await program(["datasets", "list"], env)).exit).not.toBe(0);
		expect((await kept(caches)).length).toBe(1);
	});

	it("never breaks a command when a file is damaged, cut or empty, and is then replaced", async () => {
		const caches = await folder();
		await list(caches);
		const [path = ""] = await kept(caches);
		const whole = await readFile(path);
		const damages = [
			...[0, 5, 9, 20, 4000, whole.length - 1].map((place) => (): Promise<void> => {
				const bytes = Buffer.from(whole);
				bytes[place] = (bytes[place] ?? 0) ^ 0x10;
				return writeFile(path, bytes);
			}),
			() => truncate(path, 1000),
			() => writeFile(path, ""),
			() => writeFile(path, "text"),
		];
		for (const damage of damages) {
			await damage();
			expect(await list(caches)).toMatchObject(LISTED);
			expect((await readFile(path)).length).toBeGreaterThan(100_000);
		}
	});

	it("is not read from a file or a folder that others can write, because it would run as this user", async () => {
		const caches = await folder();
		await list(caches);
		const [path = ""] = await kept(caches);
		await chmod(path, 0o622);
		await list(caches);
		// It was not taken: the command has compiled, and written its own.
		expect((await stat(path)).mode & 0o777).toBe(0o600);

		if (process.geteuid?.() === 0) {
			await chown(path, 12_345, 12_345);
			await list(caches);
			expect((await stat(path)).uid).toBe(0);
		}
		const { mtimeMs } = await stat(path);
		await chmod(join(caches, "ragtag", "code"), 0o777);
		expect(await list(caches)).toMatchObject(LISTED);
		// Nothing is put there either.
		expect((await stat(path)).mtimeMs).toBe(mtimeMs);
	});

	it("is not read through a link, which may lead anywhere", async () => {
		const caches = await folder();
		await list(caches);
		const [path = ""] = await kept(caches);
		const elsewhere = join(caches, "elsewhere");
		await writeFile(elsewhere, await readFile(path));
		await rm(path);
		await symlink(elsewhere, path);
		expect(await list(caches)).toMatchObject(LISTED);
		expect((await stat(path)).size).toBeGreaterThan(100_000);
		expect((await readdir(join(caches, "ragtag", "code"), { withFileTypes: true })).map((one) => one.isFile())).toEqual(
			[true],
		);
	});

	it("is silently left out where it can't be kept, or where the user wants none", async () => {
		const caches = await folder();
		await writeFile(join(caches, "ragtag"), "a file, no folder");
		expect(await list(caches)).toMatchObject(LISTED);
		// Node's recursive mkdir never ends there, and no signal but the last ends the process then.
		expect(await list("/proc/nope")).toMatchObject(LISTED);
		const other = await folder();
		expect(await list(other, { NODE_DISABLE_COMPILE_CACHE: "1" })).toMatchObject(LISTED);
		expect(await kept(other)).toEqual([]);
	});

	it("of another build, or another setting of V8, is replaced", async () => {
		const caches = await folder();
		await list(caches);
		const [path = ""] = await kept(caches);
		const { mtimeMs } = await stat(path);
		await list(caches, { NODE_OPTIONS: "--stack-trace-limit=20" });
		expect(await kept(caches)).toEqual([path]);
		expect((await stat(path)).mtimeMs).toBeGreaterThan(mtimeMs);
	});
});
