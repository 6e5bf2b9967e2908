import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { hurriedTimers } from "../../support/clock.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { folder, KEY, serve, type Service } from "../../support/service.ts";
import { at, items, parse, parseLines, summaryOf } from "../../support/values.ts";

type Files = Readonly<Record<string, string>>;

type Here = {
	readonly service: Service;
	readonly out: string;
	/** ids by the names that were sent */
	readonly ids: ReadonlyMap<string, string>;
	run(...argv: readonly string[]): Promise<Ended>;
	read(path: string): Promise<string>;
};

/** A dataset of these files, and a folder for them. */
async function here(files: Files, flavour: Flavour = "ragflow-0.27"): Promise<Here> {
	const service = await serve(0, { flavour });
	const [home, state] = [await folder(), await folder()];
	const ids = new Map<string, string>();
	for (const [name, text] of Object.entries(files)) {
		const form = new FormData();
		form.append("file", new Blob([text]), name);
		const url = `${service.url}/api/v1/datasets/${service.dataset}/documents?asked-by=the-test`;
		const sent = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${KEY}` }, body: form });
		ids.set(name, String(at(items(at(parse(await sent.text()), "data"))[0], "id")));
	}
	const out = join(home, "out");
	const env = { ...envOf(service), XDG_STATE_HOME: state };
	const run = (...argv: readonly string[]): Promise<Ended> =>
		ragtag(["docs", "download", "-d", service.dataset, "--out", out, "--rate", "5000", ...argv], { env });
	return { service, out, ids, run, read: (path) => readFile(join(out, path), "utf8") };
}

const shown = async (path: string): Promise<string[]> =>
	(await readdir(path)).filter((name) => !name.startsWith(".")).toSorted();

const isDownload = (request: string): boolean => /^GET \S*\/documents\/[^?/ ]+ /.test(request);

describe("docs download", () => {
	it("writes each document whole, the empty ones too, and a manifest of them", async () => {
		const { out, run, read } = await here({ "a.md": "alpha", "empty.txt": "", "b.json": '{"code":102}' });
		const { stdout } = await ends(run("--json"), 0, { rows: 3, downloaded: 3, failed: 0 });
		expect(parseLines(stdout)[1]).toMatchObject({ type: "row", status: "downloaded" });
		expect(await shown(out)).toEqual(["a.md", "b.json", "empty.txt", "manifest.csv"]);
		expect([await read("a.md"), await read("empty.txt"), await read("b.json")]).toEqual(["alpha", "", '{"code":102}']);
		expect(await read("manifest.csv")).toMatch(/^file,name\r?\n/);
	});

	it("shows how much of all bytes came, so that a large file does not look like a stop", async () => {
		const { out, service } = await here({ "a.md": "x".repeat(3000), "b.md": "y".repeat(2000), "c.md": "z" });
		const argv = ["docs", "download", "-d", service.dataset, "--out", out, "--rate", "20", "--progress", "json"];
		const { exit, stderr } = await ragtag(argv, { env: envOf(service), shown: hurriedTimers() });
		const lines = parseLines(stderr).filter((line) => at(line, "type") === "progress" && at(line, "bytes") !== null);
		expect([exit, lines[0]]).toMatchObject([0, { bytes_total: 5001 }]);
	});

	it("writes over nothing that is there, without --force", async () => {
		const { out, run, read, service } = await here({ "a.md": "alpha", "b.md": "beta" });
		await mkdir(out);
		await writeFile(join(out, "a.md"), "mine");
		await writeFile(join(out, "manifest.csv"), "my own list");
		const { stdout } = await ends(run("--json"), 1, { downloaded: 1, failed: 1 });
		expect(stdout).toContain('"error_code":"FILE_EXISTS"');
		expect([await read("a.md"), await read("b.md"), await read("manifest.csv")]).toEqual([
			"mine",
			"beta",
			"my own list",
		]);
		expect(await read("manifest (1).csv")).toContain("b.md");
		expect(service.requests.filter(isDownload)).toHaveLength(1);
		expect((await run("--force")).exit).toBe(0);
		expect(await read("a.md")).toBe("alpha");
	});

	it("asks for no byte of a file that --only-changed finds as it was, and for those that are changed", async () => {
		const { out, run, read, service } = await here({ "a.md": "alpha", "b.md": "beta" });
		await run();
		const before = service.requests.filter(isDownload).length;
		await ends(run("--only-changed", "--json"), 0, { unchanged: 2, downloaded: 0 });
		expect(service.requests.filter(isDownload)).toHaveLength(before);
		await writeFile(join(out, "b.md"), "BETA");
		await ends(run("--only-changed", "--json"), 1, { unchanged: 1, failed: 1 });
		expect(await read("b.md")).toBe("BETA");
		await ends(run("--only-changed", "--force", "--json"), 0, { unchanged: 1, downloaded: 1 });
		expect(await read("b.md")).toBe("beta");
	});

	it("follows no link out of the folder", async () => {
		const { out, run, ids } = await here({ "hr/a.md": "alpha", "b.md": "beta" }, "ragflow-0.21");
		expect(ids.size).toBe(2);
		const elsewhere = await folder();
		await mkdir(out);
		await symlink(elsewhere, join(out, "hr"));
		await writeFile(join(elsewhere, "b.md"), "theirs");
		await symlink(join(elsewhere, "b.md"), join(out, "b.md"));
		await run("--force");
		expect(await readdir(elsewhere)).toEqual(["b.md"]);
		expect(await readFile(join(elsewhere, "b.md"), "utf8")).toBe("theirs");
		expect(await readFile(join(out, "b.md"), "utf8")).toBe("beta");
	});

	it("takes the documents that are named, and no others", async () => {
		const { out, run, ids } = await here({ "a.md": "alpha", "b.md": "beta" });
		expect((await run("--id", ids.get("b.md") ?? "")).exit).toBe(0);
		expect(await shown(out)).toEqual(["b.md", "manifest.csv"]);
		const missing = await run("--id", "f".repeat(32), "--json");
		expect([missing.exit, missing.stdout]).toEqual([1, expect.stringContaining('"error_code":"NOT_FOUND"')]);
		expect((await run("--name", "a.md")).exit).toBe(0);
		expect(await shown(out)).toContain("a.md");
	});

	it("shows what it would write, and writes nothing, with --dry-run", async () => {
		const { out, run, service } = await here({ "a.md": "alpha" });
		const { exit, stdout } = await run("--dry-run", "--detailed-exitcode");
		expect([exit, stdout]).toEqual([10, expect.stringContaining("would be downloaded")]);
		await expect(stat(out)).rejects.toThrow("ENOENT");
		expect(service.requests.some(isDownload)).toBe(false);
		const { stdout: json } = await run("--dry-run", "--json");
		expect(parseLines(json)[1]).toMatchObject({ type: "change", action: "download", file: join(out, "a.md") });
	});

	it("sends nothing to a service that documents no such call", async () => {
		const { out, run, service } = await here({ "a.md": "alpha" }, "documented");
		await says(run(), 2, "this service documents no such call");
		expect(service.requests.some(isDownload)).toBe(false);
		await expect(stat(out)).rejects.toThrow("ENOENT");
	});

	it("sends no download where the folder can't be used", async () => {
		const { out, run } = await here({ "a.md": "alpha" });
		await writeFile(out, "a file");
		expect(await run()).toMatchObject({ exit: 2, stderr: expect.stringContaining("not a directory") });
		// No folder can be made there, and Node's recursive mkdir tries for ever.
		expect(await run("--out", "/proc/nope")).toMatchObject({ exit: 2, stderr: expect.stringContaining("/proc/nope") });
	});

	it("can't be undone: it has changed no document", async () => {
		const { service, run } = await here({ "a.md": "alpha" });
		const state = await folder();
		const { stdout } = await run("--json", "--state-dir", state);
		const name = String(at(summaryOf(stdout), "run"));
		const ended = await ragtag(["runs", "undo", name, "--yes", "--state-dir", state], { env: envOf(service) });
		expect([ended.exit, ended.stderr]).toEqual([2, expect.stringContaining("changed none of them")]);
	});
});
