import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { proxy } from "../../support/proxy.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parseLines, range } from "../../support/values.ts";

it("uploaded files come with a manifest of their ids that can be tagged at once", async () => {
	const service = await serve(0);
	const home = await folder();
	const paths = ["a.md", "with, comma.txt"].map((name) => join(home, name));
	for (const path of paths) await writeFile(path, `text of ${path}`);
	const argv = ["docs", "upload", ...paths, "-d", service.dataset, "--set", "team=docs"];
	const { exit, stdout, stderr } = await ragtag([...argv, "-q"], { env: envOf(service) });
	expect([exit, stderr]).toEqual([0, ""]);
	expect(stdout.split("\n")[0]).toBe("document_id,dataset_id,name,file");
	const held = await service.documents();
	expect(held.map(({ name }) => name).toSorted()).toEqual(["a.md", "with, comma.txt"]);
	expect(held.map(({ metadata }) => metadata)).toEqual([{ team: "docs" }, { team: "docs" }]);

	const tag = ["docs", "tag", "-", "--ignore", "file", "--set", "state=reviewed", "--mode", "merge"];
	expect((await ragtag(tag, { env: envOf(service), stdin: stdout })).exit).toBe(0);
	const metadata = { team: "docs", state: "reviewed" };
	expect((await service.documents()).map((document) => document.metadata)).toEqual([metadata, metadata]);
});

it("a manifest of files uploads each with its name and metadata, and reports every row with --json", async () => {
	const service = await serve(0);
	const manifest = await file("files.csv", "file,name,kind\none.txt,First.txt,news\ntwo.txt,,paper\n");
	for (const name of ["one.txt", "two.txt"]) await writeFile(join(manifest, "..", name), name);
	const argv = ["docs", "upload", manifest, "-d", service.dataset, "--json"];
	const { stdout } = await ends(ragtag(argv, { env: envOf(service) }), 0, {
		rows: 2,
		uploaded: 2,
		updated: 0,
		changes: 2,
	});
	const held = await service.documents();
	const ids = parseLines(stdout).flatMap((line) =>
		at(line, "type") === "row" ? [String(at(line, "document_id"))] : [],
	);
	expect(ids.toSorted()).toEqual(held.map(({ id }) => id).toSorted());
	expect(new Map(held.map(({ name, metadata }) => [name, metadata]))).toEqual(
		new Map([
			["First.txt", { kind: "news" }],
			["two.txt", { kind: "paper" }],
		]),
	);
});

it.each([
	["absent.txt", 3],
	["../secret.txt", 3],
])("a manifest that names %s uploads nothing", async (name, code) => {
	const service = await serve(0);
	const manifest = await file("files.csv", `file\n${name}\n`);
	const { exit, stderr } = await ragtag(["docs", "upload", manifest, "-d", service.dataset], { env: envOf(service) });
	expect(exit).toBe(code);
	expect(stderr).toContain(`${manifest}:2:1: `);
	expect(service.requests).toEqual([]);
});

it.each<Flavour>(["documented", "ragflow-0.21", "ragflow-0.26"])(
	"a file name with a quote mark is stored as it is, with its metadata, by a service of %s",
	async (flavour) => {
		const service = await serve(0, { flavour });
		const path = join(await folder(), 'the "long" one.txt');
		await writeFile(path, "text");
		const argv = ["docs", "upload", path, "-d", service.dataset, "--set", "a=1"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect([exit, stdout]).toEqual([0, expect.stringContaining('"the ""long"" one.txt"')]);
		expect(await service.documents()).toMatchObject([{ name: 'the "long" one.txt', metadata: { a: "1" } }]);
	},
);

it.each([
	["few files, whose names are asked for one by one", 2, 200],
	["many files, for which the dataset is listed", 12, 3],
])(
	"%s: an answer with the id of another client's document costs it neither its metadata nor, in an undo, itself",
	async (_, files, documents) => {
		const service = await serve(documents);
		const foreign = (await service.ids()).at(-1) ?? "";
		await service.put(foreign, { by: "another client" });
		const before = await service.documents();
		// The answer to the second upload names a document that was there before.
		const url = await proxy(service, async ({ method, nth }, pass) => {
			const answer = await pass();
			return method === "POST" && nth === 2 ? answer.replace(/"id": ?"[^"]*"/, `"id":"${foreign}"`) : answer;
		});
		const world = { env: { ...envOf(service), RAGTAG_BASE_URL: url }, home: await folder() };
		const paths = range(files).map((n) => join(world.home, `file-${n}.txt`));
		for (const path of paths) await writeFile(path, "text");
		const argv = ["docs", "upload", ...paths, "-d", service.dataset, "--set", "a=1", "--concurrency", "1", "--json"];
		const { stdout } = await ends(ragtag(argv, world), 1, { uploaded: files - 1, failed: 1 });
		expect(stdout).toContain("NOT_STORED");
		// The file of the failed row may be stored, so the undo is incomplete.
		expect((await ragtag(["runs", "undo", "--yes"], world)).exit).toBe(1);
		const left = await service.documents();
		expect(left.filter(({ name }) => name !== "file-1.txt")).toEqual(before);
	},
);

it.each(["a\nb.txt", "a\u001b[2Jb.txt", "a\\\\b.txt"])(
	"a file named %j is refused before anything is sent: a service stores another name",
	async (name) => {
		const service = await serve(1);
		const argv = ["docs", "upload", await file(name, "text"), await file("b.txt", "text"), "-d", service.dataset];
		const { exit, stderr } = await ragtag(argv, { env: envOf(service) });
		expect([exit, service.requests]).toEqual([2, []]);
		expect(stderr).toMatch(
			/^\S+b\.txt:1:1: has a name that is not a plain file name; rename it\nragtag: 1 file or folder can't be uploaded; nothing was sent\n/,
		);
	},
);
