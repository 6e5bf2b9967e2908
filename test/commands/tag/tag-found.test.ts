import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { ONE_BY_ONE, recorded, resumeOf, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder, type Service, serve, writes } from "../../support/service.ts";
import { at, parse, range, summaryOf } from "../../support/values.ts";

/** Documents of two kinds in turn, news first, each with a number. */
async function world(documents = 5, more: Parameters<typeof serve>[1] = {}): Promise<Service> {
	const service = await serve(documents, more);
	for (const [n, id] of (await service.ids()).entries()) {
		await service.put(id, { category: n % 2 === 0 ? "news" : "paper", n });
	}
	return service;
}

const NEWS = ["--where", "category=news"];
const SET = ["--set", "reviewed:boolean=true", "--mode", "merge"];

const tag = ({ url, dataset }: { url: string; dataset: string }, ...more: readonly string[]): Promise<Ended> =>
	ragtag(["docs", "tag", "-d", dataset, "--rate", "5000", ...more], { env: envOf({ url }) });

describe("docs tag by a filter", () => {
	it("tags exactly the documents that meet it, keeps their other keys, and first prints their number", async () => {
		const service = await world();
		const { stdout, stderr } = await says(tag(service, ...NEWS, ...SET), 0, "3 rows: 3 updated");
		expect(stdout).toEqual("");
		expect(stderr).toMatch(
			new RegExp(`^3 documents of dataset ${service.dataset} meet the filter: --where category=news\n`),
		);
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual([
			{ category: "news", n: 0, reviewed: true },
			{ category: "paper", n: 1 },
			{ category: "news", n: 2, reviewed: true },
			{ category: "paper", n: 3 },
			{ category: "news", n: 4, reviewed: true },
		]);
		expect(writes(service)).toHaveLength(3);
	});

	it("takes a condition and a name, all of which must be met", async () => {
		const service = await world();
		const [, , third] = await service.documents();
		const condition = '{"conditions":[{"name":"n","comparison_operator":">","value":1}]}';
		const flags = [...NEWS, "--where-json", condition, "--name", third?.name ?? ""];
		await says(
			tag(service, ...flags, "--set", "n=!delete", "--set", "t:list=+a", "--mode", "merge"),
			0,
			"1 document of dataset",
		);
		expect(at(await service.documents(), 2, "metadata")).toEqual({ category: "news", t: ["a"] });
		expect(writes(service)).toHaveLength(1);
	});

	it("previews with --dry-run without writing, and --only-changed skips equal documents", async () => {
		const service = await world();
		const [first = ""] = await service.ids();
		await service.put(first, { category: "news", n: 0, reviewed: true });
		const dry = await tag(service, ...NEWS, ...SET, "--dry-run", "--detailed-exitcode", "--json");
		await ends(dry, 10, { rows: 3, unchanged: 1, pending: 2, run: null });
		expect(dry.stderr).toContain("3 documents of dataset");
		expect(writes(service)).toEqual([]);
		const run = await tag(service, ...NEWS, ...SET, "--only-changed", "--json", "-q");
		expect([run.exit, run.stderr]).toEqual([0, ""]);
		expect(summaryOf(run.stdout)).toMatchObject({ rows: 3, unchanged: 1, updated: 2 });
	});

	it.each([[], ["--dry-run"]])("finds nothing, reports it and is a success %j", async (...flags) => {
		const service = await world();
		const home = await folder();
		const argv = ["docs", "tag", "-d", service.dataset, "--where", "category=none", ...SET, "--json", ...flags];
		const { stderr } = await ends(ragtag(argv, { env: envOf(service), home }), 0, { rows: 0, run: null });
		expect(stderr).toContain(`no document of dataset ${service.dataset} meets the filter: --where category=none`);
		expect(writes(service)).toEqual([]);
		// No run of nothing stands before the last one that did something.
		const listed = await ragtag(["runs", "list"], { home });
		expect(listed.stdout.trimEnd().split("\n")).toHaveLength(1);
	});

	it("refuses a key that no document has, unless it is missing and is to be set", async () => {
		const service = await world();
		const wrong = await tag(service, "--where", "catgory=news", ...SET);
		await says(wrong, 2, "has the key catgory; nothing was sent", "Did you mean category?");
		expect((await tag(service, "--missing", "Category", ...SET)).exit).toBe(2);
		expect((await tag(service, "--where", "reviewed=true", ...SET)).exit).toBe(2);
		expect(writes(service)).toEqual([]);
		expect((await tag(service, "--missing", "reviewed", ...SET)).exit).toBe(0);
		expect(writes(service)).toHaveLength(5);
	});

	it.each(commandFlavours)("finds all of them at %s, whatever the service itself would filter", async (flavour) => {
		const service = await world(7, { flavour });
		// Every release takes a text; v1.0 takes no boolean.
		await ends(tag(service, ...NEWS, "--set", "reviewed=yes", "--mode", "merge", "--json"), 0, { rows: 4, updated: 4 });
		const reviewed = (await service.documents()).filter(({ metadata }) => at(metadata, "reviewed") === "yes");
		expect(reviewed.map(({ metadata }) => at(metadata, "category"))).toEqual(range(4).map(() => "news"));
	});

	it("leaves a copy of the ids only in the run's folder", async () => {
		const { service, run, state, path } = await recorded(2);
		const argv = ["docs", "tag", "-d", service.dataset, "--missing", "nothing", "--allow-empty", ...SET, "--json"];
		const { exit, stdout } = await run(argv);
		expect(exit).toBe(0);
		expect(await readdir(join(state, "tmp"))).toEqual([]);
		const copy = await readFile(path(runOf(stdout), "manifest"), "utf8");
		const ids = await service.ids();
		expect(copy).toBe(`dataset_id,document_id\n${ids.map((id) => `${service.dataset},${id}\n`).join("")}`);
		expect(at(parse(await readFile(path(runOf(stdout), "run.json"), "utf8")), "manifest", "name")).toMatch(
			/^--missing nothing$/,
		);
	});
});

describe("a run by a filter that was stopped", () => {
	it("is resumed with the documents that it found, even if others meet the filter by now", async () => {
		// Three updates are the test's own.
		const { service, run, writes: written } = await recorded(4, stopAt(6));
		const ids = await service.ids();
		for (const id of ids.slice(1)) await service.put(id, { category: "news" });
		const stopped = await run(["docs", "tag", "-d", service.dataset, ...NEWS, ...SET, ...ONE_BY_ONE]);
		await ends(stopped, 4, { rows: 3, updated: 2, pending: 1 });
		await service.put(ids[0] ?? "", { category: "news" });
		const ended = await run([...resumeOf(stopped.stdout), "--json"]);
		await ends(ended, 0, { run: runOf(stopped.stdout), rows: 3, updated: 3, pending: 0 });
		expect((await service.documents()).map(({ metadata }) => at(metadata, "reviewed"))).toEqual([
			undefined,
			true,
			true,
			true,
		]);
		expect(written()).toBe(3);
	});

	it("names failed rows by the filter, not by a removed path", async () => {
		const service = await liar(2, ({ method }) => (method === "PUT" ? { code: 102, message: "no" } : undefined));
		const failed = join(await folder(), "failed.csv");
		const { exit, stderr } = await tag(service, "--missing", "nothing", "--allow-empty", ...SET, "--failed", failed);
		expect(exit).not.toBe(0);
		expect(stderr).toMatch(/^--missing nothing:2: /m);
		expect(stderr).not.toContain("ragtag-found-");
		expect(await readFile(failed, "utf8")).toMatch(/^dataset_id,document_id,_line.*\nset,doc-0,2,/);
	});
});

describe("a meaningless filter run is refused before any request", () => {
	it("a value that the schema refuses is reported once, not once for each document", async () => {
		const service = await world(5);
		const schema = await file("schema.json", '{"properties":{"stars":{"maximum":5}}}');
		const set = ["--set", "stars:number=6", "--mode", "merge", "--schema", schema];
		const { exit, stderr } = await tag(service, ...NEWS, ...set);
		expect(exit).toBe(2);
		expect(stderr.match(/stars/g)).toHaveLength(1);
		expect(service.requests).toEqual([]);
	});
});

describe("a list that does not determine the documents sends nothing", () => {
	const pages = (docs: readonly object[], total: number) =>
		liar(0, ({ method, path, query }) =>
			method === "GET" && path.endsWith("/documents")
				? { code: 0, data: { total, docs: query.get("page") === "1" ? docs : [] } }
				: undefined,
		);
	const found = { id: "doc-0", name: "a", meta_fields: { category: "news" } };

	it.each([
		["it shows fewer than its total", [found], 3, "has 3 documents, and its pages showed 1"],
		[
			"it shows no metadata: an empty result would be wrong",
			[{ id: "doc-0", name: "a" }],
			1,
			"shows no metadata, so --where has nothing to compare with",
		],
		[
			"no request can name one of them",
			[found, { ...found, id: " .. " }],
			2,
			"begins or ends with white space; nothing was sent",
		],
	])("because %s", async (_, docs, total, why) => {
		const service = await pages(docs, total);
		await says(tag(service, ...NEWS, ...SET), 1, why);
		expect(writes(service)).toEqual([]);
	});
});

it("whatever the filter and whatever the documents have, those that meet it are written and no others", async () => {
	const service = await serve(6);
	const ids = await service.ids();
	const value = fc.constantFrom<unknown>("a", "b", "1", 1, true, null, ["a", "b"], [], { a: 1 });
	const metadata = fc.dictionary(fc.constantFrom("k", "l"), value);
	const pair = fc.tuple(fc.constantFrom("k", "l"), fc.constantFrom("a", "b", "1", "true", "null", '{"a":1}', ""));
	const test = fc.tuple(pair, fc.constantFrom("is", "not is"));
	let run = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.array(metadata, { minLength: 6, maxLength: 6 }),
			fc.array(pair, { maxLength: 2 }),
			fc.option(test, { nil: undefined }),
			async (all, pairs, condition) => {
				if (pairs.length === 0 && condition === undefined) return;
				run += 1;
				for (const [n, id] of ids.entries()) await service.put(id, all[n]);
				const filter = pairs.flatMap(([key, text]) => ["--where", `${key}=${text}`]);
				if (condition !== undefined) {
					const [[name, text], operator] = condition;
					const conditions = [{ name, comparison_operator: operator, value: text }];
					filter.push("--where-json", JSON.stringify({ conditions }));
				}
				expect((await tag(service, ...filter, "--set", `mark:number=${run}`, "--mode", "merge", "-q")).exit).toBe(0);
				const is = (before: object, [key, text]: readonly [string, string]): boolean =>
					Object.hasOwn(before, key) && texts(at(before, key)).includes(text);
				for (const [n, { metadata: after }] of (await service.documents()).entries()) {
					const before = all[n] ?? {};
					const [asked, operator] = condition ?? [];
					const meets = asked === undefined || meetsTest(at(before, asked[0]), operator === "is", asked[1]);
					const isMeant = meets && pairs.every((each) => is(before, each));
					expect(after).toEqual(isMeant ? { ...before, mark: run } : before);
				}
			},
		),
		{ numRuns: 25 },
	);
});

/** Whether some value equals a text, or differs from it: said anew, and not by the code under test. */
function meetsTest(value: unknown, isEqual: boolean, wanted: string): boolean {
	const items = (Array.isArray(value) ? value : [value]).filter((item) => item !== null && item !== undefined);
	return items.some((item) => (texts(item)[0] === wanted) === isEqual);
}

/** What a value is equal to as text: said anew, and not by the code under test. */
function texts(value: unknown): string[] {
	if (Array.isArray(value)) return value.map(String);
	return [typeof value === "string" ? value : JSON.stringify(value)];
}
