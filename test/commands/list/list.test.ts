import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it("--where finds text, numbers and items of lists, even if the service would not", async () => {
	const service = await tagged(101);
	const count = async (...flags: string[]): Promise<number> => {
		const argv = ["docs", "list", "-d", service.dataset, "--format", "jsonl", ...flags];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		return parseLines(stdout).length;
	};
	expect(await count("--where", "kind=paper")).toBe(11);
	expect(await count("--where", "pages=7")).toBe(1);
	expect(await count("--where", "tags=hot")).toBe(3);
	expect(await count("--where", "tags=a|b", "--where", "pages=50")).toBe(1);
	expect(await count("--where", "kind=paper", "--where", "pages=7")).toBe(0);
	expect(await count("--where", "absent=", "--allow-empty")).toBe(0);
	const [first] = await service.documents();
	expect(await count("--name", first?.name ?? "")).toBe(1);
	expect(await count("--name", `${first?.name}x`)).toBe(0);
});

it("--where-json finds what a condition means, even if the service would not; --where narrows it", async () => {
	const service = await tagged(101);
	const find = (...flags: string[]): ReturnType<typeof ragtag> =>
		ragtag(["docs", "list", "-d", service.dataset, "--format", "jsonl", ...flags], { env: envOf(service) });
	const condition = (logic: string, ...asked: [string, string, unknown][]): string =>
		JSON.stringify({
			logic,
			conditions: asked.map(([name, comparison_operator, value]) => ({ name, comparison_operator, value })),
		});
	const count = async (...flags: string[]): Promise<number> => parseLines((await find(...flags)).stdout).length;
	const late = condition("and", ["pages", "≥", 90], ["kind", "is", "paper"]);
	expect(await count("--where-json", late)).toBe(2);
	expect(await count("--where-json", late, "--where", "tags=hot")).toBe(1);
	expect(await count("--where-json", condition("or", ["pages", "<", 3], ["tags", "contains", "ho"]))).toBe(5);
	expect(await count("--where-json", condition("and", ["odd", "empty", null]))).toBe(0);
	// A denial says nothing of documents without the key; those are asked for by name.
	expect(await count("--where-json", condition("and", ["rare", "not is", "no"]))).toBe(6);
	expect(await count("--missing", "rare")).toBe(95);
	expect(await count("--missing", "rare", "--missing", "kind")).toBe(0);
	expect(await count("--missing", "rare", "--where", "tags=hot")).toBe(1);
	expect(await count("--missing", "odd")).toBe(0);

	const before = service.requests.length;
	for (const wrong of [
		["--where-json", "{}"],
		["--where-json", condition("and", ["a", "like", "x"])],
	]) {
		const { exit, stdout, stderr } = await find(...wrong);
		expect([exit, stdout]).toEqual([2, ""]);
		expect(stderr).toContain("comparison_operator");
	}
	expect((await find("--where-json", late, "--where-json", late)).exit).toBe(2);
	expect(service.requests).toHaveLength(before);
	const bare = await find("--where-json", condition("and", ["pages", "is", 7]));
	expect(bare.stderr).toContain('As text, "7", it means the same everywhere.');
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

it("--limit reads no more pages than it needs, and --sort begins with the largest where it is asked to", async () => {
	const service = await tagged(250);
	const list = async (...flags: string[]): Promise<string[]> => {
		const argv = ["docs", "list", "-d", service.dataset, "--format", "jsonl", ...flags];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		return parseLines(stdout).map((line) => at(line, "document_id") as string);
	};
	const ids = await service.ids();
	const requests = async (...flags: string[]): Promise<number> => {
		const before = service.requests.length;
		await list(...flags);
		return service.requests.length - before;
	};
	const whole = await requests();
	const one = await requests("--limit", "5");
	// Pages have 100 documents.
	expect(await requests("--limit", "100")).toBe(one);
	expect(await requests("--limit", "101")).toBe(one + 1);
	expect(whole).toBe(one + 2);
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

it("datasets are created, printed as an id alone, and listed in every format", async () => {
	const service = await serve(2);
	const env = envOf(service);
	const made = await ragtag(["datasets", "create", "Hand bücher"], { env });
	expect([made.exit, made.stdout]).toEqual([0, expect.stringMatching(/^\S+\n$/)]);
	const id = made.stdout.trim();
	const jsonl = parseLines((await ragtag(["datasets", "list", "--format", "jsonl"], { env })).stdout);
	expect(jsonl).toContainEqual({ dataset_id: id, name: "Hand bücher", document_count: 0 });
	expect(jsonl).toContainEqual(expect.objectContaining({ dataset_id: service.dataset, document_count: 2 }));
	expect(items(parse((await ragtag(["datasets", "list", "--format", "json"], { env })).stdout))).toEqual(jsonl);
	expect(parseLines((await ragtag(["datasets", "list", "--json"], { env })).stdout)).toEqual(jsonl);
	for (const format of ["csv", "tsv", "table"]) {
		const { stdout } = await ragtag(["datasets", "list", "--format", format], { env });
		expect(stdout.split("\n")).toHaveLength(4);
		expect(stdout).toContain(id);
	}
	expect((await ragtag(["datasets", "create", "  "], { env })).exit).toBe(2);
});

it("more datasets than one page holds are all listed", async () => {
	const service = await serve(0);
	const env = envOf(service);
	for (const n of range(120))
		expect((await ragtag(["datasets", "create", `d${n}`, "--rate", "5000"], { env })).exit).toBe(0);
	const { stdout } = await ragtag(["datasets", "list", "--format", "jsonl"], { env });
	expect(new Set(parseLines(stdout).map((line) => at(line, "name"))).size).toBe(121);
});

// No folder can be made in /proc, whoever asks.
it.skipIf(!existsSync("/proc"))(
	"a list that can't be buffered until its columns are known is no fault of the program",
	async () => {
		const service = await serve(3);
		const state = await folder();
		await symlink("/proc", join(state, "tmp"));
		const argv = ["docs", "list", "-d", service.dataset, "--format", "csv", "--state-dir", state];
		const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service) });
		expect([exit, stdout]).toEqual([7, ""]);
		expect(stderr).toContain("can't be kept in the temporary folder");
		expect(stderr).toContain("name another folder with --state-dir");
	},
);

it("--untagged lists the documents that a manifest forgot", async () => {
	const service = await serve(3, { flavour: "ragflow-0.25" });
	const [first, , last] = await service.ids();
	if (first === undefined || last === undefined) throw new Error("no documents");
	await service.put(first, { author: "Ana" });
	await service.put(last, { pages: 1 });
	const { stdout } = await ragtag(["docs", "list", "-d", service.dataset, "--untagged", "--json"], {
		env: envOf(service),
	});
	expect(parseLines(stdout).map((line) => at(line, "document_id"))).toEqual([(await service.ids())[1]]);
});
