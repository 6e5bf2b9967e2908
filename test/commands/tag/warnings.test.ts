import { describe, expect, it } from "vitest";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, type Service, serve } from "../../support/service.ts";

const NFD = "e\u0301tat";

/** A dataset whose documents have numbers, and a manifest with columns for it. */
async function world(columns: string, cells: string, documents = 3): Promise<{ service: Service; path: string }> {
	const service = await serve(documents);
	const ids = await service.ids();
	for (const [at, id] of ids.entries()) {
		await service.put(id, { pages: at, author: "Ann", topics: ["a"], [NFD.normalize()]: "x" });
	}
	const lines = ids.map((id) => `${id},${cells}\n`);
	return { service, path: await file("tags.csv", `document_id,${columns}\n${lines.join("")}`) };
}

const run = ({ service, path }: { service: Service; path: string }, ...more: string[]): Promise<Ended> =>
	ragtag(["docs", "tag", path, "-d", service.dataset, ...more], { env: envOf(service) });

/** The lines that warn, without the word. */
function warningsOf({ stderr }: Ended): string[] {
	return stderr.split("\n").flatMap((line) => (line.startsWith("warning: ") ? [line.slice(9)] : []));
}

describe("before the first write, and in the preview", () => {
	it.each([[["--mode", "merge"]], [["--mode", "merge", "--dry-run"]], [[]], [["--dry-run"]], [["--only-changed"]]])(
		"docs tag %j names a value of another type and a key that is new by a slip",
		async (flags) => {
			const made = await world(`pages,auhtor,Topics:list,${NFD}`, "5,Bob,b,y");
			const ended = await run(made, ...flags);
			expect(ended.exit).toBe(0);
			expect(warningsOf(ended)).toEqual([
				"pages: 3 documents have numbers, the manifest has texts; write pages:number",
				"auhtor: no document has this key; did you mean author?",
				"Topics: no document has this key; did you mean topics?",
				`${NFD}: no document has this key; one that looks the same is there, in another Unicode form: copy it from ragtag values`,
			]);
		},
	);

	it("says so before it writes: a run that is stopped then has changed nothing", async () => {
		const made = await world("pages", "5");
		const { stderr } = await run(made, "--mode", "merge", "--debug");
		expect(stderr).toContain("warning: pages");
		expect(stderr.indexOf("warning: pages")).toBeLessThan(stderr.indexOf("PUT /"));
	});

	it("docs plan and --set get the same words", async () => {
		const made = await world("author", "Bob");
		const set = ["--set", "pages=5", "--set", "auhtor=Bob", "--set", "tags:list=a, b"];
		const plan = ["docs", "plan", made.path, "-d", made.service.dataset, "--out", `${made.path}.jsonl`, ...set];
		const words = [
			'tags: "a, b" is a list of one item; items are divided by |',
			"pages: 3 documents have numbers, --set gives texts; write pages:number",
		];
		expect(warningsOf(await ragtag(plan, { env: envOf(made.service) }))).toEqual(words);
		expect(warningsOf(await run(made, "--mode", "merge", ...set))).toEqual(words);
	});

	it("costs no request, and names nothing where the manifest is as the dataset", async () => {
		const [odd, right] = [await world("pages,auhtor", "5,x"), await world("pages:number,author", "5,x")];
		const ended = await run(right, "--mode", "merge");
		await run(odd, "--mode", "merge");
		expect(warningsOf(ended)).toEqual([]);
		const count = ({ service }: { service: Service }): number => service.requests.length;
		expect(count(odd)).toBe(count(right));
	});

	it("tells from the one document that it reads", async () => {
		const made = await world("pages,auhtor", "5,Bob", 1);
		expect(warningsOf(await run(made, "--mode", "merge"))).toEqual([
			"pages: a document that was read has numbers, the manifest has texts; write pages:number",
			"auhtor: a document that was read does not have this key; did you mean author?",
		]);
	});

	it("a key that the merge removes, a change of a list and a new key are no slips", async () => {
		const made = await world("author,topics:list,reviewed", "!delete,+b,yes");
		const ended = await run(made, "--mode", "merge");
		expect([ended.exit, warningsOf(ended)]).toEqual([0, []]);
		// A slip that removes nothing is one.
		const slip = await world("auhtor", "!delete");
		expect(warningsOf(await run(slip, "--mode", "merge"))).toEqual([
			"auhtor: no document has this key; did you mean author?",
		]);
	});

	it("a JSON manifest gets no advice about columns, and a list of half a change is named", async () => {
		const { service } = await world("author", "x");
		const rows = (await service.ids()).map((id) =>
			JSON.stringify({ document_id: id, pages: "5", topics: ["+a", "b"] }),
		);
		const path = await file("tags.jsonl", rows.join("\n"));
		expect(warningsOf(await run({ service, path }, "--mode", "merge"))).toEqual([
			'topics: "["+a","b"]" on line 1 replaces the whole list, as not each of its items has a sign',
			"pages: 3 documents have numbers, the manifest has texts",
		]);
	});

	it("manifest check names what the manifest alone shows", async () => {
		const path = await file("tags.csv", 'document_id,topics:list,price:number\na,"x, y",1.000\nb,+a|b,2.500\n');
		const ended = await ragtag(["manifest", "check", path, "-d", "d"]);
		expect([ended.exit, warningsOf(ended)]).toEqual([
			0,
			[
				'topics: "+a|b" on line 3 is stored as it stands; +item and -item change a list only with --mode merge',
				'price: "1.000" on line 2 is read as 1; if it means 1000, write that',
			],
		]);
	});

	it("docs upload names a slip where the names are read from the list", async () => {
		const { service } = await world("author", "x");
		const folder = await file("a.txt", "a");
		const rows = Array.from({ length: 12 }, (_, at) => `a.txt,n${at}.txt,Bob\n`);
		const path = await file("files.csv", `file,name,auhtor\n${rows.join("")}`);
		const root = ["--files-root", folder.slice(0, -"/a.txt".length)];
		const ended = await ragtag(["docs", "upload", path, "-d", service.dataset, ...root], { env: envOf(service) });
		expect(warningsOf(ended)).toEqual(["auhtor: no document has this key; did you mean author?"]);
	});
});
