import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { recorded, type RecordedOptions, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

const FILES = ["hr/a.pdf", "hr/deep/b.txt", "it/a.pdf", "top.txt"] as const;

/** A folder with two files of one base name, and the command that uploads it. Each file holds its own path. */
async function papers(paths: readonly string[] = FILES, options: RecordedOptions = {}) {
	const world = await recorded(0, { flavour: "ragflow-0.25", ...options });
	const root = await folder();
	const write = async (path: string, text: string): Promise<void> => {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), text);
	};
	for (const path of paths) await write(path, path);
	const upload = (...more: string[]) =>
		world.run(["docs", "upload", root, "-d", world.service.dataset, "--json", ...more]);
	const held = async () => (await world.service.documents()).map(({ name }) => name).toSorted();
	return { ...world, root, write, upload, held };
}

describe.each(["ragflow-0.21", "ragflow-0.25", "ragflow-0.27", "ragflow-1.0"] as const)("on %s", (flavour) => {
	it("hr/a.pdf and it/a.pdf are two documents, under their paths; a second run uploads neither", async () => {
		const { upload, held } = await papers(FILES, { flavour });
		const { exit, stdout } = await upload();
		expect([exit, await held()]).toEqual([0, FILES]);
		expect(summaryOf(stdout)).toMatchObject({ rows: 4, uploaded: 4 });
		await ends(upload("--on-existing", "skip"), 0, { uploaded: 0, unchanged: 4 });
	});
});

it("says so where a service drops folders, and sends no second file: it would be one of two documents a.pdf", async () => {
	const { upload, held } = await papers(FILES, { flavour: "documented" });
	const { exit, stdout, stderr } = await upload();
	// top.txt has no folder. The first file shows what becomes of one.
	expect([exit, await held()]).toEqual([1, ["a.pdf", "top.txt"]]);
	expect(summaryOf(stdout)).toMatchObject({ rows: 4, uploaded: 1, failed: 3 });
	expect(stdout.match(/"error_code":"\w+"/g)?.toSorted()).toEqual([
		'"error_code":"NO_FOLDERS"',
		'"error_code":"NO_FOLDERS"',
		'"error_code":"RENAMED"',
	]);
	expect(stderr).toMatch(/with --names flat\.\n$/);
	const flat = await upload("--names", "flat");
	expect([flat.exit, (await held()).length]).toEqual([1, 5]);
});

it("renames its own documents alone where folders are dropped: one that has the flat name keeps it", async () => {
	const { upload, held, write } = await papers(["hr/a.pdf", "it/a.pdf"], { flavour: "ragflow-1.0" });
	expect((await upload("--names", "flat")).exit).toBe(0);
	await write("hr/a.pdf", "another content");
	expect((await upload()).exit).toBe(0);
	expect(await held()).toEqual(["hr/a.pdf", "hr__a.pdf", "it/a.pdf", "it__a.pdf"]);
	expect((await upload("--on-existing", "skip")).exit).toBe(0);
});

it("goes on with a document that was stored and not renamed yet: it would be stored again", async () => {
	const { upload, run, held } = await papers(["hr/a.pdf", "it/a.pdf"], {
		flavour: "ragflow-1.0",
		...stopAt(2, "PATCH"),
	});
	const { exit, stdout } = await upload("--concurrency", "1");
	expect([exit, await held()]).toEqual([4, ["hr__a.pdf"]]);
	expect((await run(["runs", "resume", runOf(stdout), "--timeout", "1s"])).exit).toBe(0);
	expect(await held()).toEqual(["hr/a.pdf", "it/a.pdf"]);
});

it.each([
	["ragflow-0.25", ["a(1).pdf", "hr/a.pdf"]],
	["ragflow-1.0", ["hr/a.pdf", "hr__a.pdf"]],
] as const)("stores a file once more with upload-again on %s, and prints its name", async (flavour, names) => {
	const { upload, held } = await papers(["hr/a.pdf", "top.txt"], { flavour });
	const only = ["--include", "*.pdf"];
	expect((await upload(...only)).exit).toBe(0);
	await ends(upload(...only, "--on-existing", "upload-again"), 0, { uploaded: 1 });
	expect(await held()).toEqual(names);
});

it("refuses two files of one name before the first request, and lists all of them", async () => {
	const { upload, service, root } = await papers([...FILES, "it/b.txt", `${"é".repeat(125)}/x.pdf`, "é/é.md"]);
	const { exit, stdout, stderr } = await upload("--names", "base");
	expect([exit, service.requests]).toEqual([2, []]);
	expect(stderr).toContain(`${join(root, "hr/a.pdf")} and ${join(root, "it/a.pdf")} would both be stored as a.pdf`);
	expect(stderr).toContain(
		`${join(root, "hr/deep/b.txt")} and ${join(root, "it/b.txt")} would both be stored as b.txt`,
	);
	expect(stdout.split("\n").filter((line) => line.includes('"problem"'))).toHaveLength(2);
	expect(stderr).toContain("2 files or folders can't be uploaded; nothing was sent");
});

it("leaves out what the globs say, and links with a note", async () => {
	const { upload, held, root } = await papers([...FILES, "draft/c.pdf"]);
	await symlink("/etc", join(root, "link"));
	const { exit, stderr } = await upload("--include", "*.pdf", "--exclude", "draft");
	expect([exit, await held()]).toEqual([0, ["hr/a.pdf", "it/a.pdf"]]);
	expect(stderr).toContain("1 symbolic link is left out: --follow follows links, each target once.");
});

it("reads the paths of a list, between NULs too", async () => {
	const { run, root, service, held } = await papers();
	const list = await file("list", "hr/deep/b.txt\0top.txt\0");
	const argv = ["docs", "upload", root, "--files-from", list, "-0", "-d", service.dataset];
	expect((await run(argv)).exit).toBe(0);
	expect(await held()).toEqual(["hr/deep/b.txt", "top.txt"]);
	await says(
		run(["docs", "upload", root, "--files-from", await file("l", "../x\nnone\n"), "-d", service.dataset]),
		2,
		/\/x:1:1: lies outside .*\n.*\/none:1:1: no such file or directory\n/,
	);
});

it("gives each file its sidecar, and refuses one whose file is gone", async () => {
	const { upload, service, write } = await papers();
	await write("hr/a.pdf.meta.json", '{"title":"A"}');
	expect((await upload("--set", "team=docs", "--include", "*.pdf")).exit).toBe(0);
	const held = (await service.documents()).map(({ name, metadata }) => [name, metadata]);
	expect(Object.fromEntries(held)).toEqual({ "hr/a.pdf": { title: "A", team: "docs" }, "it/a.pdf": { team: "docs" } });
	await write("it/gone.pdf.meta.json", "{}");
	await says(
		upload(),
		2,
		"gone.pdf.meta.json:1:1: is a sidecar whose file is not there\nragtag: 1 file or folder can't be uploaded",
	);
});

it("sets facts of each file with their types: the folder was lost as metadata", async () => {
	const { upload, service, root } = await papers(["hr/a.pdf", "top.txt"]);
	for (const path of ["hr/a.pdf", "top.txt"]) await utimes(join(root, path), 0, new Date("2024-05-06T07:08:09Z"));
	const set = ["folder={folder}", "path=/{path}", "year:number={mtime:year}", "tags:list={stem}|{ext}", "team=docs"];
	expect((await upload(...set.flatMap((each) => ["--set", each]))).exit).toBe(0);
	const held = (await service.documents()).map(({ name, metadata }) => [name, metadata]);
	const shared = { year: 2024, team: "docs" };
	expect(Object.fromEntries(held)).toEqual({
		"hr/a.pdf": { folder: "hr", path: "/hr/a.pdf", tags: ["a", "pdf"], ...shared },
		// An empty value is what an empty cell is: the key is not sent.
		"top.txt": { path: "/top.txt", tags: ["top", "txt"], ...shared },
	});
});

it.each([
	[["--set", "a={foldr}"], 2, "{foldr} is no fact of a file"],
	[["--set", "a:number={folder}"], 3, 'a: "hr" is not a number'],
])("refuses %j before the first request", async (more, code, text) => {
	const { upload, service } = await papers(["hr/a.pdf"]);
	const { exit, stderr } = await upload(...more);
	expect([exit, service.requests]).toEqual([code, []]);
	expect(stderr).toContain(text);
});

it.each([[[]], [["--set", "folder={folder}"]]])(
	"sends rows again under their paths, %j: a file of a failed row would become a second a.pdf",
	async (more) => {
		const { upload, run, held } = await papers();
		expect((await upload(...more)).exit).toBe(0);
		const failed = join(await folder(), "failed");
		const { exit, stdout } = await upload(...more, "--failed", failed);
		expect([exit, stdout.match(/"EXISTS"/g)?.length]).toEqual([1, 4]);
		const retried = await run(["runs", "retry", runOf(stdout)]);
		expect([retried.exit, retried.stderr.includes("the dataset has hr/a.pdf already")]).toEqual([1, true]);
		const skip = ["--as", "manifest", "--files-root", "/", "--on-existing", "skip", "--json"];
		await ends(run(["docs", "upload", failed, ...skip]), 0, { unchanged: 4 });
		expect(await held()).toEqual(FILES);
	},
);

it("an empty folder is exit 3, unless that is right", async () => {
	const { upload, service } = await papers([]);
	expect([(await upload()).exit, (await upload("--allow-empty")).exit]).toEqual([3, 0]);
	expect(service.requests).toEqual([]);
});
