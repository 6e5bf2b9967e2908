import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, type Service, serve, writes } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const changesOf = (stdout: string): unknown[] => parseLines(stdout).filter((line) => at(line, "type") === "change");
const rowsOf = (stdout: string): unknown[] => parseLines(stdout).filter((line) => at(line, "type") === "row");

/** With nobody there to be asked. */
const run = (service: { readonly url: string }, argv: readonly string[]): Promise<Ended> =>
	ragtag(argv, { env: envOf(service) });

describe("docs rm --dry-run", () => {
	const dry = (service: Service, ...more: readonly string[]): Promise<Ended> =>
		run(service, ["docs", "rm", "-d", service.dataset, "--dry-run", "--rate", "5000", ...more]);

	it("shows which documents would be removed and their metadata, does not ask, and removes nothing", async () => {
		const service = await serve(3);
		const [one = "", two = ""] = await service.ids();
		await service.put(one, { owner: "Ann", n: 1 });
		await service.put(two, {});
		const before = await service.documents();
		const path = await file("old.csv", `document_id,note\n${two},x\n${one},y\n`);
		const { exit, stdout, stderr } = await dry(service, path);
		expect(stdout).toBe(
			`document-0000002.txt (${two}) line 2  would be removed\ndocument-0000001.txt (${one}) line 3  would be removed\n  - owner: "Ann"\n  - n: 1\n\n` +
				"2 documents would be removed.\n",
		);
		expect([exit, stderr]).toEqual([0, expect.stringContaining("2 rows: 2 would change in")]);
		expect(stderr).not.toContain("Type yes");
		expect(await service.documents()).toEqual(before);
		expect(writes(service)).toEqual([]);
	});

	it("prints for scripts a removal for each document that exists, and fails the others as the run would", async () => {
		const service = await serve(2);
		const [one = ""] = await service.ids();
		await service.put(one, { owner: "Ann" });
		const failed = join(await folder(), "failed.csv");
		const { stdout } = await ends(dry(service, "--id", one, "absent", "--json", "--failed", failed), 1, {
			rows: 2,
			removed: 0,
			failed: 1,
			pending: 1,
			changes: 1,
			run: null,
		});
		expect(changesOf(stdout)).toEqual([
			{
				type: "change",
				action: "remove",
				line: 1,
				dataset_id: service.dataset,
				document_id: one,
				name: "document-0000001.txt",
				add: {},
				change: {},
				remove: { owner: "Ann" },
			},
		]);
		expect(rowsOf(stdout)).toMatchObject([{ line: 2, status: "failed", error_code: "NOT_FOUND" }]);
		expect(await readFile(failed, "utf8")).toContain("absent");
		expect(writes(service)).toEqual([]);
	});

	it.each(commandFlavours)("shows at %s what a run then does", async (flavour) => {
		const service = await serve(130, { flavour });
		const ids = (await service.ids()).slice(5, 125);
		const path = await file("old.csv", `document_id\n${ids.join("\n")}\n`);
		const shown = await dry(service, path, "--json");
		expect(changesOf(shown.stdout).map((change) => at(change, "document_id"))).toEqual(ids);
		expect(writes(service)).toEqual([]);
		const removed = await run(service, ["docs", "rm", path, "-d", service.dataset, "--yes", "--rate", "5000"]);
		const left = await service.ids();
		expect([removed.exit, left.length, left.filter((id) => ids.includes(id))]).toEqual([0, 10, []]);
	});
});

describe("docs upload --dry-run", () => {
	/** A dataset that has `one.txt`, and a manifest of it and of `two.txt`. */
	async function world(): Promise<{ service: Service; path: string; home: string; id: string }> {
		const service = await serve(0);
		const path = await file("files.csv", "file,kind,n:number\none.txt,news,1\ntwo.txt,paper,2\n");
		const home = join(path, "..");
		for (const name of ["one.txt", "two.txt"]) await writeFile(join(home, name), name);
		const argv = ["docs", "upload", join(home, "one.txt"), "-d", service.dataset, "--set", "kind=old", "--set", "x=1"];
		expect((await run(service, argv)).exit).toBe(0);
		const [id = ""] = await service.ids();
		return { service, path, home, id };
	}
	const dry = ({ service, path }: { service: Service; path: string }, ...more: readonly string[]): Promise<Ended> =>
		run(service, ["docs", "upload", path, "-d", service.dataset, "--dry-run", ...more]);

	it.each<[string, number, readonly object[], readonly object[], object]>([
		[
			"error",
			1,
			[{ action: "upload", line: 3, document_id: "", add: { kind: "paper", n: 2 }, change: {}, remove: {} }],
			[{ line: 2, status: "failed", error_code: "EXISTS" }],
			{ failed: 1, pending: 1, changes: 1 },
		],
		[
			"skip",
			0,
			[{ action: "upload", line: 3 }],
			[{ line: 2, status: "unchanged" }],
			{ unchanged: 1, pending: 1, changes: 1 },
		],
		[
			"update-metadata",
			0,
			[
				{ action: "update", line: 2, add: { n: 1 }, change: { kind: { from: "old", to: "news" } }, remove: { x: "1" } },
				{ action: "upload", line: 3 },
			],
			[],
			{ pending: 2, changes: 2 },
		],
		[
			"upload-again",
			0,
			[
				{ action: "upload", line: 2 },
				{ action: "upload", line: 3 },
			],
			[],
			{ pending: 2, changes: 2 },
		],
	])("shows what --on-existing %s would do, and writes nothing", async (existing, code, changes, rows, counts) => {
		const made = await world();
		const before = [await made.service.documents(), writes(made.service)];
		const { exit, stdout } = await dry(made, "--on-existing", existing, "--json");
		expect(exit).toBe(code);
		expect(changesOf(stdout)).toMatchObject(changes);
		expect(changesOf(stdout)).toHaveLength(changes.length);
		expect(rowsOf(stdout)).toMatchObject(rows);
		expect(rowsOf(stdout)).toHaveLength(rows.length);
		expect(summaryOf(stdout)).toMatchObject({ rows: 2, uploaded: 0, updated: 0, run: null, ...counts });
		expect([await made.service.documents(), writes(made.service)]).toEqual(before);
	});

	it("names the file of an upload and the document of an update, and prints no manifest of ids that do not exist", async () => {
		const made = await world();
		const { stdout } = await dry(made, "--on-existing", "update-metadata");
		expect(stdout).toBe(
			`one.txt (${made.id}) line 2\n  + n: 1\n  ~ kind: "old" → "news"\n  - x: "1"\n` +
				`${join(made.home, "two.txt")} line 3  would be uploaded\n  + kind: "paper"\n  + n: 2\n\n` +
				"1 document would be uploaded. 1 document would change; keys: 1 added, 1 changed, 1 removed.\n" +
				"Keys that would be removed: x (1 document).\n",
		);
		const [, upload] = changesOf((await dry(made, "--on-existing", "update-metadata", "--json")).stdout);
		expect(at(upload, "file")).toBe(join(made.home, "two.txt"));
	});

	it("takes files as arguments, too, and leaves a document alone that has the metadata already", async () => {
		const { service, home } = await world();
		const argv = ["docs", "upload", join(home, "one.txt"), join(home, "two.txt"), "-d", service.dataset, "--dry-run"];
		const flags = ["--set", "x=1", "--set", "kind=old", "--on-existing", "update-metadata", "--format", "csv"];
		const before = writes(service);
		const { exit, stdout } = await run(service, [...argv, ...flags]);
		expect([exit, stdout.split("\n").slice(0, 2)]).toEqual([
			0,
			["line,document_id,key,action,from,to,name", `2,,,upload document,,${join(home, "two.txt")},two.txt`],
		]);
		expect(writes(service)).toEqual(before);
	});
});
