import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { file, folder, type serve } from "../../support/service.ts";
import { rowsFor, typed, type TypedWorld, typedWorld } from "../../support/typed.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

/** Those that remove what a document had before they refuse what is sent. */
const losing = typed.filter((flavour) => flavour !== "ragflow-0.25");

const before = (n: number): object => ({ pages: n, author: "Ann" });
const all = range(6).map(before);

/** Six documents with numbers as pages. */
const world = (flavour: Flavour, more: Parameters<typeof serve>[1] = {}): Promise<TypedWorld> =>
	typedWorld({ flavour, ...more }, before);

/** Of the rows, the last two have a text as pages. */
const pages = (n: number): object => ({ pages: n < 4 ? n + 10 : "n/a" });
const ALLOWED = "--allow-type-change";
const MERGE = ["--mode", "merge", ALLOWED];

function rowsOf(stdout: string): readonly unknown[] {
	return parseLines(stdout).filter((line) => at(line, "type") === "row");
}

describe.each(typed)("%s refuses a value of another type", (flavour) => {
	it.each([
		["merge", { author: "Ann" }],
		["replace", flavour === "ragflow-0.24" ? { author: "Ann" } : {}],
	])("and with --mode %s its document still has what it had", async (mode, kept) => {
		const { run, tag, held } = await world(flavour);
		const { stdout } = await tag(pages, "--mode", mode, ALLOWED);
		expect(summaryOf(stdout)).toMatchObject({ failed: mode === "replace" && flavour === "ragflow-0.24" ? 6 : 2 });
		expect(await held()).toEqual(range(6).map((n) => (n < 4 ? { ...kept, pages: n + 10 } : before(n))));
		const refused = rowsOf(stdout).filter((row) => at(row, "error_code") === "METADATA_REFUSED");
		expect(refused).toHaveLength(2);
		for (const row of refused) {
			expect(at(row, "error")).toContain('pages: the service holds numbers, and "n/a" is text');
			const end = flavour === "ragflow-0.25" ? "the document keeps what it had" : "what it had was written again";
			expect(at(row, "error")).toContain(end);
		}
		await ends(run("runs", "undo", "--yes"), 0, {});
		expect(await held()).toEqual(all);
	});
});

describe.each(losing)("%s removes all metadata of the document of a refused value", (flavour) => {
	it("and undo brings it back where the run could not", async () => {
		const { service, ids, run, tag, held } = await world(flavour);
		await ends(tag(pages, ...MERGE, "--concurrency", "1"), 1, { updated: 4, failed: 2 });
		// As if the run had ended between the refusal and what it wrote again.
		for (const id of ids.slice(4)) await service.put(id, {});
		expect((await held()).slice(4)).toEqual([{}, {}]);
		await ends(run("runs", "undo", "--yes"), 0, { updated: 6 });
		expect(await held()).toEqual(all);
	});

	it("also where the answer to it is lost: the next attempt still knows what the document had", async () => {
		const [method, from] = flavour === "ragflow-0.24" ? ["PUT", 2] : ["PATCH", 1];
		const on = { method, document: "00000000000000000000000000000006", from, times: 1 };
		const faults = { faults: [{ fault: "reset", when: "after", on }] } as const;
		const { service, ids, run, held } = await world(flavour, { faults });
		// One row alone, so that each of its attempts reads its document anew.
		const path = await rowsFor(ids.slice(5), () => ({ pages: "n/a" }));
		const { stdout } = await run("docs", "tag", path, "-d", service.dataset, ...MERGE);
		expect(rowsOf(stdout)).toMatchObject([{ error_code: "METADATA_REFUSED", attempts: 2 }]);
		expect(await held()).toEqual(all);
	});

	it("and a row names the key also where no document shows which type it has", async () => {
		const { service, ids, run } = await world(flavour);
		const tag = async (n: number, year: unknown): ReturnType<TypedWorld["run"]> => {
			const path = await rowsFor(ids.slice(n, n + 1), () => ({ year, author: "Bob" }));
			return run("docs", "tag", path, "-d", service.dataset, ...MERGE);
		};
		await tag(0, 2024);
		await tag(0, "2024");
		const { stdout } = await tag(1, "soon");
		expect(at(rowsOf(stdout)[0], "error")).toContain(': year: "soon" is text, and an earlier value');
	});

	it("and a row says that it can't be written again after --no-undo", async () => {
		const { tag } = await world(flavour);
		const { stdout } = await tag(pages, "--no-undo", ALLOWED);
		expect(stdout).toContain("the document has no metadata now, and what it had is not known");
	});

	it("and docs apply writes it again", async () => {
		const { service, ids, run, held } = await world(flavour);
		const plan = join(await folder(), "plan");
		const made = ["docs", "plan", await rowsFor(ids, pages), "-d", service.dataset, "--out", plan];
		expect((await run(...made, ...MERGE)).exit).toBe(0);
		await ends(run("docs", "apply", plan, ALLOWED), 1, { updated: 4, failed: 2 });
		expect((await held()).slice(4)).toEqual(all.slice(4));
	});

	it("and docs upload --on-existing update-metadata writes it again", async () => {
		const { service, run, held } = await world(flavour);
		const name = "document-0000005.txt";
		const path = await file("files.json", JSON.stringify([{ file: name, meta_fields: { pages: "n/a" } }]));
		await writeFile(join(dirname(path), name), "");
		const flags = ["-d", service.dataset, "--on-existing", "update-metadata", ALLOWED];
		await ends(run("docs", "upload", path, ...flags), 1, { failed: 1 });
		expect(await held()).toEqual(all);
		const { exit } = await run("runs", "undo", "--yes");
		expect([exit, await held()]).toEqual([0, all]);
	});
});

it("a refused row of an older release is no reason to write its document again", async () => {
	const { tag, held } = await world("ragflow-0.21");
	await ends(tag(pages, ...MERGE), 0, { updated: 6, failed: 0 });
	expect((await held()).slice(4)).toEqual(range(2).map(() => ({ pages: "n/a", author: "Ann" })));
});

it.each(["ragflow-0.24", "ragflow-0.27"] as const)("%s leaves none empty where refusals end a run", async (flavour) => {
	const { tag, held } = await typedWorld({ flavour }, before, 40);
	await ends(
		tag(() => ({ author: "Ann", pages: "n/a" }), ALLOWED, "--concurrency", "16"),
		9,
		{},
	);
	expect(await held()).toEqual(range(40).map(before));
});
