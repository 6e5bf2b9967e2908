import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

/** The second upload is refused. */
const refusing = () =>
	recorded(0, {
		flavour: "ragflow-0.26",
		faults: {
			faults: [{ fault: "status", status: 413, when: "before", on: { method: "POST", path: "documents$", nth: 2 } }],
		},
	});

const CSV = "kind,file\none,docs/a.txt\ntwo,docs/b.txt\n";
const NAMED = "dataset_id,file,name\n,docs/a.txt,A.txt\n,docs/b.txt,B.txt\n";
const JSONL = '{"file":"docs/a.txt","kind":"one"}\n{"file":"docs/b.txt","kind":"two"}\n';

it.each([
	["of a CSV manifest", "files.csv", CSV, ["a.txt", "b.txt"]],
	["with columns for name and dataset", "files.csv", NAMED, ["A.txt", "B.txt"]],
	["of JSON lines", "files.jsonl", JSONL, ["a.txt", "b.txt"]],
])("the failed rows of an upload %s are uploaded again unchanged, without a flag", async (_, name, text, names) => {
	const world = await refusing();
	const manifest = await file(name, text);
	await mkdir(join(manifest, "..", "docs"));
	for (const each of ["a.txt", "b.txt"]) await writeFile(join(manifest, "..", "docs", each), each);
	const argv = ["docs", "upload", manifest, "-d", world.service.dataset, "--concurrency", "1", "--json"];
	const first = await ends(world.run(argv), 1, { uploaded: 1, failed: 1 });
	const failed = world.path(runOf(first.stdout), text === JSONL ? "failed.jsonl" : "failed.csv");
	await ends(world.run(["docs", "upload", failed, "--json"]), 0, { rows: 1, uploaded: 1 });
	const held = await world.service.documents();
	expect(held.map((document) => document.name).toSorted()).toEqual(names);
	if (text !== NAMED) expect(held.map(({ metadata }) => metadata)).toEqual([{ kind: "one" }, { kind: "two" }]);
});

it("failed rows of files named on the command line are also uploaded again", async () => {
	const world = await refusing();
	const paths = [await file("a.txt", "a"), await file("b.txt", "b")];
	const argv = ["docs", "upload", ...paths, "-d", world.service.dataset, "--concurrency", "1", "--json"];
	const first = await world.run(argv);
	const again = await world.run(["docs", "upload", world.path(runOf(first.stdout), "failed.jsonl"), "--json"]);
	expect([again.exit, summaryOf(again.stdout)]).toMatchObject([0, { rows: 1, uploaded: 1 }]);
	expect((await world.service.documents()).map(({ name }) => name).toSorted()).toEqual(["a.txt", "b.txt"]);
});

it("--failed names files relative to itself where they lie below it, as the manifest does", async () => {
	const world = await refusing();
	const home = await folder();
	for (const each of ["a.txt", "b.txt"]) await writeFile(join(home, each), each);
	await writeFile(join(home, "files.csv"), "file\na.txt\nb.txt\n");
	const failed = join(home, "failed.csv");
	const argv = ["docs", "upload", join(home, "files.csv"), "-d", world.service.dataset, "--concurrency", "1"];
	expect((await world.run([...argv, "--failed", failed])).exit).toBe(1);
	expect((await readFile(failed, "utf8")).split("\n")[1]).toMatch(
		new RegExp(`^b\\.txt,b\\.txt,${world.service.dataset},3,`),
	);
	expect((await world.run(["docs", "upload", failed])).exit).toBe(0);
});

it("a manifest that this program did not write may not name files outside its folder, whatever its columns", async () => {
	const world = await refusing();
	const secret = await file("secret.txt", "secret");
	const manifest = await file("failed.csv", `file,_line,_error_code,_error,_attempts\n${secret},2,HTTP_413,x,1\n`);
	expect((await world.run(["docs", "upload", manifest, "-d", world.service.dataset])).exit).toBe(3);
	expect(await world.service.documents()).toEqual([]);
});
