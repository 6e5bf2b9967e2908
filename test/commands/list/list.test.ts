import { existsSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve, type Service } from "../../support/service.ts";
import { at, items, keys, parse, parseLines, range } from "../../support/values.ts";

/** A service whose documents all have metadata: a text, a number, a list and one that tries everything. */
async function tagged(documents: number): Promise<Service> {
	const service = await serve(documents);
	const rows = (await service.ids()).map((id, n) => ({
		document_id: id,
		kind: n % 10 === 0 ? "paper" : "news",
		pages: n,
		tags: n % 50 === 0 ? ["hot", "a|b"] : [],
		odd: n === 0 ? 'x"\t\n\\,;' : null,
		...(n % 20 === 0 ? { rare: "yes" } : {}),
	}));
	const path = await file("tags.json", JSON.stringify(rows));
	const argv = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000"];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	return service;
}

it("every document of several pages is listed once, in every format", async () => {
	const service = await tagged(250);
	const held = await service.documents();
	const list = async (...flags: string[]): Promise<string> => {
		const { exit, stdout } = await ragtag(["docs", "list", "-d", service.dataset, ...flags], { env: envOf(service) });
		expect(exit).toBe(0);
		return stdout;
	};
	const ids = held.map(({ id }) => id);
	const lines = parseLines(await list("--format", "jsonl"));
	expect(lines.map((line) => at(line, "document_id"))).toEqual(ids);
	expect(lines.map((line) => at(line, "meta_fields"))).toEqual(held.map(({ metadata }) => metadata));
	expect(keys(lines[0])).toEqual(["dataset_id", "document_id", "name", "size", "create_time", "meta_fields"]);
	expect(await list("--json")).toBe(await list("--format", "jsonl"));
	// A value may be attached to its letter.
	const attached = await ragtag(["docs", "list", `-d${service.dataset}`, "--json"], { env: envOf(service) });
	expect(attached.stdout).toBe(await list("--json"));
	expect(items(parse(await list("--format", "json")))).toEqual(lines);
	const tsv = (await list()).trimEnd().split("\n");
	expect(tsv[0]?.split("\t")[0]).toBe("document_id");
	expect(tsv.slice(1).map((line) => line.split("\t")[0])).toEqual(ids);
	expect(await list("--format", "tsv")).toBe(`${tsv.join("\n")}\n`);
	const table = await list("--format", "table");
	for (const id of ids) expect(table).toContain(id);

	const manifest = await file("back.csv", await list("--format", "csv"));
	const argv = ["docs", "tag", manifest, "--rate", "5000"];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	expect(await service.documents()).toEqual(held);
});

it("filters find what they mean, even if the service would not, and narrow each other", async () => {
	const service = await tagged(101);
	const find = (...flags: string[]): ReturnType<typeof ragtag> =>
		ragtag(["docs", "list", "-d", service.dataset, "--format", "jsonl", ...flags], { env: envOf(service) });
	const condition = (logic: string, ...asked: [string, string, unknown][]): string => {
		const conditions = asked.map(([name, comparison_operator, value]) => ({ name, comparison_operator, value }));
		return JSON.stringify({ logic, conditions });
	};
	const late = condition("and", ["pages", "≥", 90], ["kind", "is", "paper"]);
	const [first] = await service.documents();
	for (const [count, ...flags] of [
		[3, "--where", "tags=hot"],
		[1, "--where", "tags=a|b", "--where", "pages=50"],
		[0, "--where", "kind=paper", "--where", "pages=7"],
		[0, "--where", "absent=", "--allow-empty"],
		[1, "--name", first?.name ?? ""],
		[0, "--name", `${first?.name}x`],
		[2, "--where-json", late],
		[1, "--where-json", late, "--where", "tags=hot"],
		[5, "--where-json", condition("or", ["pages", "<", 3], ["tags", "contains", "ho"])],
		// A denial says nothing of documents without the key; those are asked for by name.
		[6, "--where-json", condition("and", ["rare", "not is", "no"])],
		[95, "--missing", "rare"],
		[0, "--missing", "rare", "--missing", "kind"],
		[1, "--missing", "rare", "--where", "tags=hot"],
		[0, "--missing", "odd"],
	] as const) {
		expect([flags, parseLines((await find(...flags)).stdout).length]).toEqual([flags, count]);
	}
	const before = service.requests.length;
	for (const wrong of ["{}", condition("and", ["a", "like", "x"])]) {
		expect((await says(find("--where-json", wrong), 2, "comparison_operator")).stdout).toBe("");
	}
	expect((await find("--where-json", late, "--where-json", late)).exit).toBe(2);
	expect(service.requests).toHaveLength(before);
	const bare = find("--where-json", condition("and", ["pages", "is", 7]));
	await says(bare, 0, 'As text, "7", it means the same everywhere.');
});

it("--fields shows only those members and keys, in that order", async () => {
	const service = await tagged(2);
	const list = (...flags: string[]): Promise<{ stdout: string; exit: number }> =>
		ragtag(["docs", "list", "-d", service.dataset, "--fields", "odd,pages,name", ...flags], { env: envOf(service) });
	const [first, second] = await service.documents();
	expect((await list()).stdout).toBe(
		`odd\tpages\tname\nx"\\t\\n\\\\,;\t0\t${first?.name}\n\t1\t${second?.name}\n`.replace("\n\t1", "\nnull\t1"),
	);
	const [line] = parseLines((await list("--format", "jsonl")).stdout);
	expect(line).toEqual({ name: first?.name, meta_fields: { odd: 'x"\t\n\\,;', pages: 0 } });
});

it("--limit lists the first documents, and --sort begins with the largest where it is asked to", async () => {
	const service = await tagged(250);
	const list = async (...flags: string[]): Promise<string[]> => {
		const argv = ["docs", "list", "-d", service.dataset, "--format", "jsonl", ...flags];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		return parseLines(stdout).map((line) => at(line, "document_id") as string);
	};
	const ids = await service.ids();
	expect(await list("--limit", "5")).toEqual(ids.slice(0, 5));
	expect(await list("--sort", "-pages", "--limit", "2")).toEqual([ids[249], ids[248]]);
	expect(await list("--sort", "kind", "--where", "tags=hot")).toEqual([0, 50, 100, 150, 200].map((n) => ids[n]));
});

it("a key that no document has is exit 2 with the key that is meant, and nothing is printed", async () => {
	const service = await serve(250);
	const ids = await service.ids();
	// Beyond the first page, so that a service that filters does not list it.
	await service.put(ids[240] ?? "", { category: "news", pages: 3 });
	await service.put(ids[0] ?? "", { author: "Ann" });
	const list = (...flags: string[]): ReturnType<typeof ragtag> =>
		ragtag(["docs", "list", "-d", service.dataset, ...flags], { env: envOf(service) });
	for (const [flag, value] of [
		["--where", "catgory=news"],
		["--missing", "Category"],
		["--where-json", '{"conditions":[{"name":"catgory","comparison_operator":"not empty"}]}'],
		["--fields", "name,catgory"],
		["--sort", "-catgory"],
	] as const) {
		const wrong = await list(flag, value);
		expect([wrong.exit, wrong.stdout]).toEqual([2, ""]);
		expect(wrong.stderr).toContain(`${flag}: no document of dataset ${service.dataset} has the key `);
		expect(wrong.stderr).toContain("Did you mean category? --allow-empty accepts");
		expect((await list(flag, value, "--allow-empty")).exit).toBe(0);
	}
	for (const right of [
		["--where", "category=blog"],
		["--missing", "category", "--name", "document-0000001.txt"],
		["--name", "document-0000001.txt", "--fields", "category"],
		["--name", "no such name", "--where", "catgory=news"],
		["--missing", "catgory", "--limit", "3"],
	]) {
		expect([right, (await list(...right)).exit]).toEqual([right, 0]);
	}
	const empty = await serve(0);
	const none = await ragtag(["docs", "list", "-d", empty.dataset, "--where", "a=b"], { env: envOf(empty) });
	expect(none.exit).toBe(0);
});

it("--fields adds name and size to a CSV, which still reads back with nothing lost or added", async () => {
	const service = await serve(2);
	const [id = "", other = ""] = await service.ids();
	await service.put(id, { name: "its key", size: "large", kind: "paper" });
	const list = (fields: string): ReturnType<typeof ragtag> =>
		ragtag(["docs", "list", "-d", service.dataset, "--format", "csv", "--fields", fields], { env: envOf(service) });
	const [first, second] = await service.documents();
	const some = await list("size,kind,name");
	expect(some.stdout).toBe(
		`document_id,dataset_id,size,name,kind\n${id},${service.dataset},0,${first?.name},paper\n` +
			`${other},${service.dataset},0,${second?.name},\n`,
	);
	expect(some.stderr).toContain("--ignore size");
	// --ignore would leave out the metadata of that name as well.
	const all = await list("name,size,meta_fields");
	expect(all.stdout.split("\n")[0]).toBe("document_id,dataset_id,name,size,name:text,size:text,kind");
	expect(all.stderr).not.toContain("--ignore");

	await service.put(id, { name: "its key", kind: "paper" });
	const held = await service.documents();
	const manifest = await file("back.csv", (await list("name,create_time,size,meta_fields")).stdout);
	const back = ["docs", "tag", manifest, "--ignore", "size", "--ignore", "create_time"];
	expect((await ragtag(back, { env: envOf(service) })).exit).toBe(0);
	expect(await service.documents()).toEqual(held);
});

it("more datasets than one page holds are all listed", async () => {
	const service = await serve(0);
	for (const n of range(120)) await service.create(`d${n}`);
	const { stdout } = await ragtag(["datasets", "list", "--format", "jsonl"], { env: envOf(service) });
	expect(new Set(parseLines(stdout).map((line) => at(line, "name"))).size).toBe(121);
});

// No folder can be made in /proc, whoever asks.
it.skipIf(!existsSync("/proc"))("a list that can't be buffered is no fault of the program", async () => {
	const service = await serve(3);
	const state = await folder();
	await symlink("/proc", join(state, "tmp"));
	const argv = ["docs", "list", "-d", service.dataset, "--format", "csv", "--state-dir", state];
	const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service) });
	expect([exit, stdout]).toEqual([7, ""]);
	expect(stderr).toContain("can't be kept in the temporary folder");
	expect(stderr).toContain("name another folder with --state-dir");
});

it("--untagged lists the documents that a manifest forgot", async () => {
	const service = await serve(3, { flavour: "ragflow-0.25" });
	const [first = "", , last = ""] = await service.ids();
	await service.put(first, { author: "Ana" });
	await service.put(last, { pages: 1 });
	const { stdout } = await ragtag(["docs", "list", "-d", service.dataset, "--untagged", "--json"], {
		env: envOf(service),
	});
	expect(parseLines(stdout).map((line) => at(line, "document_id"))).toEqual([(await service.ids())[1]]);
});

/** An id, so that the service is not asked for a dataset of that name. */
const DATASET = "d".repeat(32);

/** A service whose dataset has more documents than its pages show, by its own account. */
function boastful(shown: number, total: number): Promise<{ url: string }> {
	return listen((request, response) => {
		const query = new URL(request.url ?? "", "http://service").searchParams;
		const size = Number(query.get("page_size"));
		const start = (Number(query.get("page")) - 1) * size;
		const docs = range(shown).map((n) => ({ id: `id${n}`, name: `${n}.txt`, meta_fields: { n } }));
		response.end(JSON.stringify({ code: 0, data: { total, docs: docs.slice(start, start + size) } }));
	});
}

it("an incomplete list is printed and is no success, so that it is not taken for a complete one", async () => {
	const env = envOf(await boastful(120, 1_240));
	const { exit, stdout, stderr } = await ragtag(["docs", "list", "-d", DATASET, "--json"], { env });
	expect([exit, parseLines(stdout).length]).toEqual([1, 120]);
	expect(stderr.split("\n")[0]).toBe(
		`ragtag: the service says that dataset ${DATASET} has 1,240 documents, and its pages showed 120, in 5 passes; ` +
			"the list above is not complete",
	);
});

it("a manifest of an incomplete list is kept, and reported as incomplete", async () => {
	const env = envOf(await boastful(3, 4));
	const out = join(await folder(), "tags.csv");
	const { exit, stderr } = await ragtag(["manifest", "init", "-d", DATASET, "--out", out], { env });
	const text = await readFile(out, "utf8");
	expect([exit, text.trim().split("\n").length]).toEqual([1, 4]);
	expect(stderr).toContain(`${out} is not complete`);
	const printed = await ragtag(["manifest", "init", "-d", DATASET], { env });
	expect([printed.exit, printed.stdout]).toEqual([1, text]);
});
