import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import type { FaultPlan } from "../../../src/sandbox/faults/plan.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve, type Service } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

const typed = [
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.26",
	"ragflow-0.27",
	"ragflow-1.0",
] as const satisfies readonly Flavour[];
/** Those that remove what a document had before they refuse what is sent. */
const losing = typed.filter((flavour) => flavour !== "ragflow-0.25");

type World = {
	readonly service: Service;
	readonly ids: readonly string[];
	run(argv: readonly string[]): ReturnType<typeof ragtag>;
	/** what the documents have */
	held(): Promise<readonly unknown[]>;
};

/** Six documents with numbers as pages. */
async function world(flavour: Flavour, faults?: FaultPlan): Promise<World> {
	const service = await serve(6, { flavour, ...(faults === undefined ? {} : { faults }) });
	const ids = await service.ids();
	for (const [n, id] of ids.entries()) await service.put(id, before(n));
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	return {
		service,
		ids,
		run: (argv) => ragtag(argv, { env }),
		held: async () => (await service.documents()).map(({ metadata }) => metadata),
	};
}

const before = (n: number): object => ({ pages: n, author: "Ann" });
const all = range(6).map((n) => before(n));

/** Rows of which the last two have a text as pages. */
async function manifest(ids: readonly string[]): Promise<string> {
	const rows = ids.map((id, n) => ({ document_id: id, meta_fields: { pages: n < 4 ? n + 10 : "n/a" } }));
	return file("tags.json", JSON.stringify(rows));
}

const ALLOWED = ["--allow-type-change", "--json", "--rate", "5000"];

function rowsOf(stdout: string): readonly unknown[] {
	return parseLines(stdout).filter((line) => at(line, "type") === "row");
}

describe.each(typed)("%s refuses a value of another type", (flavour) => {
	it.each([
		["merge", { author: "Ann" }],
		["replace", flavour === "ragflow-0.24" ? { author: "Ann" } : {}],
	])("and with --mode %s its document still has what it had", async (mode, kept) => {
		const { service, ids, run, held } = await world(flavour);
		const argv = ["docs", "tag", await manifest(ids), "-d", service.dataset, "--mode", mode, ...ALLOWED];
		const { stdout } = await run(argv);
		expect(summaryOf(stdout)).toMatchObject({ failed: mode === "replace" && flavour === "ragflow-0.24" ? 6 : 2 });
		expect(await held()).toEqual(range(6).map((n) => (n < 4 ? { ...kept, pages: n + 10 } : before(n))));
		const refused = rowsOf(stdout).filter((row) => at(row, "error_code") === "METADATA_REFUSED");
		expect(refused).toHaveLength(2);
		for (const row of refused) {
			expect(at(row, "error")).toContain('pages: the service holds numbers, and "n/a" is text');
			const end = flavour === "ragflow-0.25" ? "the document keeps what it had" : "what it had was written again";
			expect(at(row, "error")).toContain(end);
		}
		const { stdout: undone } = await run(["runs", "undo", "--yes", "--json"]);
		expect([summaryOf(undone), await held()]).toMatchObject([{ exit_code: 0 }, all]);
	});
});

describe.each(losing)("%s removes all metadata of the document of a refused value", (flavour) => {
	it("and undo brings it back where the run could not", async () => {
		const { service, ids, run, held } = await world(flavour);
		const argv = ["docs", "tag", await manifest(ids), "-d", service.dataset, "--mode", "merge", ...ALLOWED];
		await ends(run([...argv, "--concurrency", "1"]), 1, { updated: 4, failed: 2 });
		// As if the run had ended between the refusal and what it wrote again.
		for (const id of ids.slice(4)) await service.put(id, {});
		expect((await held()).slice(4)).toEqual([{}, {}]);
		const { stdout: undone } = await run(["runs", "undo", "--yes", "--json"]);
		expect([summaryOf(undone), await held()]).toMatchObject([{ exit_code: 0, updated: 6 }, all]);
	});

	it("also where the answer to it is lost: the next attempt still knows what the document had", async () => {
		const [method, from] = flavour === "ragflow-0.24" ? ["PUT", 2] : ["PATCH", 1];
		const on = { method, document: "00000000000000000000000000000006", from, times: 1 };
		const faults: FaultPlan = { faults: [{ fault: "reset", when: "after", on }] };
		const { service, ids, run, held } = await world(flavour, faults);
		// One row alone, so that each of its attempts reads its document anew.
		const rows = [{ document_id: ids[5], meta_fields: { pages: "n/a" } }];
		const path = await file("tags.json", JSON.stringify(rows));
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...ALLOWED];
		const { stdout } = await run(argv);
		expect(rowsOf(stdout)).toMatchObject([{ error_code: "METADATA_REFUSED", attempts: 2 }]);
		expect(await held()).toEqual(all);
	});

	it("and a row names the key also where no document shows which type it has", async () => {
		const { service, ids, run } = await world(flavour);
		const tag = async (id: string | undefined, year: unknown): ReturnType<typeof ragtag> => {
			const rows = [{ document_id: id, meta_fields: { year, author: "Bob" } }];
			const path = await file("tags.json", JSON.stringify(rows));
			return run(["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...ALLOWED]);
		};
		await tag(ids[0], 2024);
		await tag(ids[0], "2024");
		const { stdout } = await tag(ids[1], "soon");
		expect(at(rowsOf(stdout)[0], "error")).toContain(': year: "soon" is text, and an earlier value');
	});

	it("and a row says that it can't be written again after --no-undo", async () => {
		const { service, ids, run } = await world(flavour);
		const argv = ["docs", "tag", await manifest(ids), "-d", service.dataset, "--no-undo", ...ALLOWED];
		const { stdout } = await run(argv);
		expect(stdout).toContain("the document has no metadata now, and what it had is not known");
	});

	it("and docs apply writes it again", async () => {
		const { service, ids, run, held } = await world(flavour);
		const plan = join(await folder(), "plan");
		const made = ["docs", "plan", await manifest(ids), "-d", service.dataset, "--out", plan];
		const argv = [...made, "--mode", "merge", "--allow-type-change"];
		expect((await run(argv)).exit).toBe(0);
		await ends(run(["docs", "apply", plan, ...ALLOWED]), 1, { updated: 4, failed: 2 });
		expect((await held()).slice(4)).toEqual(all.slice(4));
	});

	it("and docs upload --on-existing update-metadata writes it again", async () => {
		const { service, run, held } = await world(flavour);
		const path = await file(
			"files.json",
			JSON.stringify([{ file: "document-0000005.txt", meta_fields: { pages: "n/a" } }]),
		);
		await writeFile(join(dirname(path), "document-0000005.txt"), "");
		const flags = ["--on-existing", "update-metadata", ...ALLOWED];
		await ends(run(["docs", "upload", path, "-d", service.dataset, ...flags]), 1, { failed: 1 });
		expect(await held()).toEqual(all);
		const { exit } = await run(["runs", "undo", "--yes"]);
		expect([exit, await held()]).toEqual([0, all]);
	});
});

it("a refused row of an older release is no reason to write its document again", async () => {
	const { service, ids, run, held } = await world("ragflow-0.21");
	const argv = ["docs", "tag", await manifest(ids), "-d", service.dataset, "--mode", "merge", ...ALLOWED];
	await ends(run(argv), 0, { updated: 6, failed: 0 });
	expect((await held()).slice(4)).toEqual([
		{ pages: "n/a", author: "Ann" },
		{ pages: "n/a", author: "Ann" },
	]);
});

it.each(["ragflow-0.24", "ragflow-0.27"] as const)(
	"%s leaves no document empty where refusals end the run",
	async (flavour) => {
		const service = await serve(40, { flavour });
		const ids = await service.ids();
		for (const [n, id] of ids.entries()) await service.put(id, before(n));
		const rows = ids.map((id) => ({ document_id: id, meta_fields: { author: "Ann", pages: "n/a" } }));
		const path = await file("tags.json", JSON.stringify(rows));
		const argv = ["docs", "tag", path, "-d", service.dataset, ...ALLOWED, "--concurrency", "16"];
		await ends(ragtag(argv, { env: { ...envOf(service), RAGTAG_STATE_DIR: await folder() } }), 9, {});
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual(ids.map((_, n) => before(n)));
	},
);
