import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { processorTime } from "../../support/cpu.ts";
import { says } from "../../support/ended.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parseLines, range } from "../../support/values.ts";

/** A service whose dataset `set` has documents of these names, `id0` and on. It claims `more` than it shows. */
function holding(names: readonly string[], more = 0): ReturnType<typeof listen> {
	return listen((request, response) => {
		const { pathname, searchParams: query } = new URL(request.url ?? "", "http://service");
		if (pathname === "/api/v1/datasets") {
			response.end(JSON.stringify({ code: 0, data: [{ id: "set", name: "set" }] }));
			return;
		}
		const size = Number(query.get("page_size"));
		const start = (Number(query.get("page")) - 1) * size;
		const docs = names.map((name, n) => ({ id: `id${n}`, name, meta_fields: {} })).slice(start, start + size);
		response.end(JSON.stringify({ code: 0, data: { total: names.length + more, docs } }));
	});
}

const fast = ["-d", "set", "--rate", "5000"];

it("names with commas, quotes, line ends and emoji get the ids of exactly those documents", async () => {
	const names = ['a,b "c".txt', "two\nlines\r\n.txt", "👩‍💻 naïve.txt", "naı\u0308ve", ";|\t", " a ", "=1+1"];
	const service = await holding(["decoy.txt", ...names]);
	const csv = ["name,n", ...names.map((name, n) => `"${name.replaceAll('"', '""')}",${n}`), ""].join("\n");
	const { exit, stdout, stderr } = await ragtag(["docs", "resolve", "-", ...fast], { env: envOf(service), stdin: csv });
	expect([exit, stderr]).toEqual([0, "-: 7 rows, 7 documents\n"]);
	const again = await ragtag(["docs", "resolve", "-", ...fast, "--json"], { env: envOf(service), stdin: stdout });
	expect(parseLines(again.stdout)).toEqual(
		names.map((name, n) => ({ document_id: `id${n + 1}`, dataset_id: "set", name, meta_fields: { n: `${n}` } })),
	);
});

it("an unknown and an ambiguous name print nothing but their lines and the candidates", async () => {
	const service = await holding(["a.txt", "a.txt", "Report.pdf", "e\u0301.txt", "b(1).txt", "good.txt"]);
	const path = await file("n.csv", "x,name\n1,a.txt\n2,report.pdf\n3,é.txt\n4,good.txt\n5,b.txt\n6,nothing\n7,*.pdf\n");
	const { exit, stdout, stderr } = await ragtag(["docs", "resolve", path, ...fast], { env: envOf(service) });
	expect([exit, stdout]).toEqual([1, ""]);
	expect(stderr.split("\n")).toEqual([
		`${path}:2:3: name: 2 documents in dataset set are called "a.txt": id0, id1; give the document_id of one`,
		`${path}:3:3: name: no document in dataset set is called "report.pdf"; did you mean "Report.pdf" (id2)?`,
		`${path}:4:3: name: no document in dataset set is called "é.txt"; did you mean "e\u0301.txt" (id3, in another Unicode form)?`,
		`${path}:6:3: name: no document in dataset set is called "b.txt"; did you mean "b(1).txt" (id4)?`,
		`${path}:7:3: name: no document in dataset set is called "nothing"`,
		`${path}:8:3: name: no document in dataset set is called "*.pdf"; for patterns use --match glob`,
		`ragtag: 6 of 7 rows of ${path} could not be resolved; nothing was printed`,
		"Fix the names, or print the rows that can be resolved with --skip-invalid.",
		"",
	]);
	const skipped = await ragtag(["docs", "resolve", path, ...fast, "--skip-invalid"], { env: envOf(service) });
	expect([skipped.exit, skipped.stdout]).toEqual([1, "document_id,dataset_id,name,x\nid5,set,good.txt,4\n"]);
	const json = await ragtag(["docs", "resolve", path, ...fast, "--json"], { env: envOf(service) });
	expect(parseLines(json.stdout).map((line) => [at(line, "type"), at(line, "line"), at(line, "error_code")])).toEqual([
		["problem", 2, "AMBIGUOUS_NAME"],
		...[3, 4, 6, 7, 8].map((line) => ["problem", line, "UNKNOWN_NAME"]),
	]);
});

it("an invalid manifest is exit 3 without a request for documents; wrong usage is exit 2", async () => {
	const service = await holding(["a"]);
	const there = await file("out.csv", "mine");
	const good = await file("n.csv", "name\na\n");
	for (const [exit, argv] of [
		[3, [await file("bad.csv", "name,n:number\na,x\n"), ...fast]],
		[3, [await file("empty.csv", "name\n"), ...fast]],
		[3, [good]],
		[2, [good, "-d", "set", "--out", there]],
		[2, [good, good, ...fast]],
		[2, [join(await folder(), "none"), ...fast]],
		[2, [good, "--match", "sidecar"]],
		[2, [good, "-d", "set", "--match", "regex"]],
		[3, [good, "-d", "set", "--match", "sidecar"]],
	] as const) {
		const ended = await ragtag(["docs", "resolve", ...argv], { env: envOf(service) });
		expect([ended.exit, ended.stdout]).toEqual([exit, ""]);
	}
	// The dataset is given by a name, which is looked up first.
	expect(service.requests.filter((line) => !line.startsWith("GET /api/v1/datasets?"))).toEqual([]);
	expect(await readFile(there, "utf8")).toBe("mine");
	const check = await ragtag(["manifest", "check", good, "-d", "set", "--for", "resolve"]);
	expect(check.exit).toBe(0);
});

it("an incomplete list can't prove that a name is unknown or unique", async () => {
	const service = await holding(["a", "b"], 3);
	const out = join(await folder(), "out.csv");
	const argv = ["docs", "resolve", "-", ...fast, "--skip-invalid", "--out", out];
	const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service), stdin: "name\na\nc\n" });
	expect([exit, stdout, existsSync(out)]).toEqual([1, "", false]);
	expect(stderr).toContain("has 5 documents, and its pages showed 2");
	expect(stderr).not.toContain("UNKNOWN");
});

it("--out is a new file, which is not written if a name is unknown", async () => {
	const service = await holding(["a", "b"]);
	const out = join(await folder(), "out.csv");
	const run = (stdin: string) =>
		ragtag(["docs", "resolve", "-", ...fast, "--out", out], { env: envOf(service), stdin });
	expect([(await run("name\na\nx\n")).exit, existsSync(out)]).toEqual([1, false]);
	const good = await says(run("name\na\n"), 0, `ragtag docs tag ${out}`);
	expect(good.stdout).toEqual("");
	expect(await readFile(out, "utf8")).toBe("document_id,dataset_id,name\nid0,set,a\n");
	expect((await run("name\nb\n")).exit).toBe(2);
});

describe("--match glob", () => {
	it("gives a row's metadata to every document that it matches, and a row without a match is reported", async () => {
		const service = await holding(["2024-a.pdf", "2024-b.pdf", "2025-a.pdf", "x[1].txt"]);
		const run = (...rows: string[]) =>
			ragtag(["docs", "resolve", "-", ...fast, "--match", "glob"], {
				env: envOf(service),
				stdin: ["name,year:number", ...rows, ""].join("\n"),
			});
		expect((await run("2024-*.pdf,2024", "2025-?.pdf,2025")).stdout).toBe(
			"document_id,dataset_id,name,year:number\nid0,set,2024-a.pdf,2024\nid1,set,2024-b.pdf,2024\nid2,set,2025-a.pdf,2025\n",
		);
		const none = await run("2024-*,1", "2026-*,2", "x[1].txt,3");
		expect([none.exit, none.stdout]).toEqual([1, ""]);
		expect(none.stderr).toContain('-:3:1: name: no document in dataset set matches "2026-*"\n');
		expect(none.stderr).toContain('but a document has exactly this name: write "x[[]1].txt"');
	});

	it("a document that two rows name is reported, or gets the row that --on-duplicate chooses", async () => {
		const service = await holding(["a.pdf", "b.pdf"]);
		const stdin = "name,document_id,n\n,id1,id\n*.pdf,,all\na.pdf,,a\n";
		const run = async (...flags: string[]) => {
			const argv = ["docs", "resolve", "-", ...fast, "--match", "glob", ...flags];
			return ragtag(argv, { env: envOf(service), stdin });
		};
		const head = "document_id,dataset_id,name,n\n";
		const error = await run();
		expect([error.exit, error.stderr.split("\n")[0]]).toEqual([
			1,
			"-:3:1: name: the same document as on line 2, with other values; see --on-duplicate",
		]);
		expect((await run("--skip-invalid")).stdout).toBe(`${head}id1,set,,id\nid0,set,a.pdf,a\n`);
		expect((await run("--on-duplicate", "first")).stdout).toBe(`${head}id1,set,,id\nid0,set,a.pdf,all\n`);
		expect((await run("--on-duplicate", "last")).stdout).toBe(`${head}id1,set,b.pdf,all\nid0,set,a.pdf,a\n`);
	});
});

it("--match sidecar: each file is tagged with the metadata of its sidecar", async () => {
	const service = await serve(0, { flavour: "ragflow-0.24" });
	const env = envOf(service);
	const where = await folder();
	const names = ["a.txt", "ü, b.txt"];
	for (const [n, name] of names.entries()) {
		await writeFile(join(where, name), "text");
		await writeFile(join(where, `${name}.meta.json`), JSON.stringify({ author: name, n, flag: n === 0 }));
	}
	const files = names.map((name) => join(where, name));
	const set = ["-d", service.dataset, "--rate", "5000"];
	expect((await ragtag(["docs", "upload", ...files, ...set], { env })).exit).toBe(0);
	const out = join(await folder(), "tags.csv");
	const argv = ["docs", "resolve", where, ...set, "--match", "sidecar", "--out", out];
	expect((await ragtag(argv, { env })).exit).toBe(0);
	expect((await ragtag(["docs", "tag", out, "--rate", "5000"], { env })).exit).toBe(0);
	const held = new Map((await service.documents()).map(({ name, metadata }) => [name, metadata]));
	expect(held).toEqual(new Map(names.map((name, n) => [name, { author: name, n, flag: n === 0 }])));
	await writeFile(join(where, "c.txt"), "text");
	const missing = await ragtag(["docs", "resolve", where, ...set, "--match", "sidecar"], { env });
	await says(missing, 3, `${join(where, "c.txt")}:1:1: has no sidecar`);
	await writeFile(join(where, "c.txt.meta.json"), "{}");
	const unknown = await ragtag(["docs", "resolve", where, ...set, "--match", "sidecar"], { env });
	await says(unknown, 1, `${join(where, "c.txt")}:1:1: name: no doc`);
});

describe("--match sidecar", () => {
	/** A folder of these files, and the command that resolves paths in it. Only the absolute path of a line is shortened. */
	async function resolving(files: Readonly<Record<string, string>>) {
		const where = await folder();
		for (const [name, content] of Object.entries(files)) {
			await mkdir(join(where, name, ".."), { recursive: true });
			await writeFile(join(where, name), content);
		}
		const service = await holding(["a.txt", "b.txt"]);
		return async (paths: readonly string[], ...flags: string[]) => {
			const argv = [
				"docs",
				"resolve",
				...paths.map((path) => join(where, path)),
				"--match",
				"sidecar",
				...fast,
				...flags,
			];
			const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service) });
			return { exit, stdout, lines: stderr.replaceAll(`${where}/`, "").split("\n").slice(0, -1) };
		};
	}

	it("takes the files directly in a folder, and all members of a sidecar or those of its meta_fields", async () => {
		const run = await resolving({
			"b.txt": "",
			"b.txt.meta.json": '{\n  "name": "k", "document_id": 7}',
			"a.txt": "",
			"a.txt.meta.json": '\ufeff{"meta_fields": {"author": "Zoë", "name": "n"}, "name": "other.pdf", "size": 3}',
			".hidden": "",
			"more/c.txt": "",
		});
		const rows =
			'{"document_id":"id0","dataset_id":"set","name":"a.txt","meta_fields":{"author":"Zoë","name":"n"}}\n' +
			'{"document_id":"id1","dataset_id":"set","name":"b.txt","meta_fields":{"name":"k","document_id":7}}\n';
		const whole = await run(["."], "--json");
		expect([whole.exit, whole.stdout]).toEqual([0, rows]);
		expect(whole.lines[0]).toBe("Not read: 1 folder inside the named ones. Name each folder that you mean.");
		const named = await run(["a.txt", "a.txt.meta.json", "b.txt.meta.json"], "--json");
		expect(named).toMatchObject({ exit: 0, stdout: rows });
	});

	it("names what is wrong with each file, all at once", async () => {
		const run = await resolving({
			"alone.txt": "",
			"bad.txt": "",
			"bad.txt.meta.json": '{\n "a": 1,\n "b" 2}',
			"date.txt": "",
			"date.txt.meta.json": '{"a":1,\n"publish_date":"soon"}',
			"list.txt": "",
			"list.txt.meta.json": "[]",
			"typo.txt": "",
			"typo.txt.meta.json": '{"metafields":{}}',
		});
		const { exit, lines } = await run(["."]);
		expect(exit).toBe(3);
		const places = ["alone.txt:1:1: has", "bad.txt.meta.json:3:6: not", "date.txt.meta.json:2:16: publish_date: "];
		places.push("list.txt.meta.json:1:1: not", "typo.txt.meta.json:1:2: metafields: did");
		for (const [index, place] of places.entries()) expect(lines[index]).toMatch(new RegExp(`^${place}`));
		expect(lines[5]).toMatch(/has 5 problems in 5 rows; nothing was sent$/);
	});

	it("refuses a path that is not there, a sidecar without its file, and one document with different values", async () => {
		const files = { "x/a.txt": "", "y/a.txt": "", "x/a.txt.meta.json": '{"n":1}', "y/a.txt.meta.json": '{"n":2}' };
		const run = await resolving({ ...files, "z/gone.txt.meta.json": "{}" });
		expect(await run(["none"])).toMatchObject({ exit: 2, stdout: "" });
		const gone = await run(["z"]);
		expect([gone.exit, gone.lines[0]]).toEqual([2, "z/gone.txt.meta.json:1:1: is a sidecar whose file is not there"]);
		const same = await run(["x", "y"]);
		const why = "name: the same document as for x/a.txt, with other values; see --on-duplicate";
		expect([same.exit, same.lines[0]]).toEqual([1, `y/a.txt:1:1: ${why}`]);
		expect((await run(["x", "y"], "--on-duplicate", "last", "--json")).stdout).toContain('{"n":2}');
	});

	it("applies --map, --ignore and --set, and names a member that no sidecar has", async () => {
		const run = await resolving({ "a.txt": "", "a.txt.meta.json": '{"old":1,"junk":2}' });
		const { stdout } = await run(["."], "--map", "old=new", "--ignore", "junk", "--set", "s=v", "--json");
		expect(stdout).toContain('"meta_fields":{"new":1,"s":"v"}');
		const wrong = await run(["."], "--ignore", "junc", "--skip-invalid");
		expect([wrong.exit, wrong.stdout]).toEqual([3, ""]);
		expect(wrong.lines[0]).toContain(":1:1: junc: --ignore names a member that no sidecar has");
	});
});

it("beside the second a.txt, which RAGFlow stored as a(1).txt, each name finds its own document", async () => {
	const service = await serve(0, { flavour: "ragflow-0.24" });
	const env = envOf(service);
	const set = ["-d", service.dataset, "--rate", "5000"];
	const path = await file("a.txt", "text");
	for (const existing of ["error", "upload-again"]) {
		expect((await ragtag(["docs", "upload", path, ...set, "--on-existing", existing], { env })).exit).toBe(0);
	}
	const ids = new Map((await service.documents()).map(({ name, id }) => [name, id]));
	expect([...ids.keys()].toSorted()).toEqual(["a(1).txt", basename(path)]);
	const run = (stdin: string, ...flags: string[]) =>
		ragtag(["docs", "resolve", "-", ...set, "--json", ...flags], { env, stdin });
	const both = parseLines((await run("name\na(1).txt\na.txt\n")).stdout);
	expect(both.map((line) => at(line, "document_id"))).toEqual([ids.get("a(1).txt"), ids.get("a.txt")]);
	const glob = parseLines((await run("name\na*.txt\n", "--match", "glob")).stdout);
	expect(new Set(glob.map((line) => at(line, "document_id")))).toEqual(new Set(ids.values()));
	expect((await run("name\na(2).txt\n")).stderr).toContain('did you mean "a');
});

it("25,000 names of 25,000 documents are found by one listing, whatever order they come in", async () => {
	const service = await serve(25_000);
	const held = (await service.documents()).toReversed();
	const path = await file("n.csv", `name,n:number\n${held.map(({ name }, n) => `${name},${n}`).join("\n")}\n`);
	const argv = ["docs", "resolve", path, "-d", service.dataset, "--rate", "5000", "--json"];
	let lines: readonly unknown[] = [];
	const taken = await processorTime(async () => {
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		lines = parseLines(stdout);
	});
	expect(taken).toBeLessThan(30_000);
	expect(lines.map((line) => at(line, "document_id"))).toEqual(held.map(({ id }) => id));
	expect(lines.map((line) => at(line, "meta_fields", "n"))).toEqual(range(25_000));
	expect(service.requests.length).toBeLessThanOrEqual(251);
	expect(service.requests.every((request) => request.startsWith("GET "))).toBe(true);
});

it("rows of several datasets are each resolved in their own dataset, which is listed once", async () => {
	const service = await serve(2);
	const env = envOf(service);
	const other = (await ragtag(["datasets", "create", "other"], { env })).stdout.trim();
	const [first, second] = await service.documents();
	const stdin = `name,dataset_id\n${first?.name},\n${first?.name},${other}\n${second?.name},\n`;
	const { exit, stderr } = await ragtag(["docs", "resolve", "-", "-d", service.dataset], { env, stdin });
	expect([exit, stderr.split("\n")[0]]).toEqual([
		1,
		`-:3:1: name: no document in dataset ${other} is called "${first?.name}"`,
	]);
	const lists = service.requests.filter((request) => request.includes("/documents"));
	// A page, and where it was a short one the next to see that nothing follows.
	expect(lists).toHaveLength(3);
});
