import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, type Service, serve, writes } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

/** Three documents: one that would change, one that has what is sent already, one that loses a key. */
async function world(
	more: Parameters<typeof serve>[1] = {},
): Promise<{ service: Service; path: string; ids: string[] }> {
	const service = await serve(3, more);
	const ids = await service.ids();
	const [one = "", two = "", three = ""] = ids;
	await service.put(one, { author: "Ann", pages: 3 });
	await service.put(two, { author: "Bob", pages: 5 });
	await service.put(three, { author: "Bob", pages: 5, draft: true });
	const rows = [one, two, three].map((id) => `${id},Bob,5\n`).join("");
	return { service, ids, path: await file("tags.csv", `document_id,author,pages:number\n${rows}`) };
}

const dry = ({ service, path }: { service: Service; path: string }, ...more: string[]): Promise<Ended> =>
	ragtag(["docs", "tag", path, "-d", service.dataset, "--dry-run", "--rate", "5000", ...more], { env: envOf(service) });

describe("docs tag --dry-run", () => {
	it("shows each document that would change, its keys, and which keys would be lost; and writes nothing", async () => {
		const made = await world();
		const before = await made.service.documents();
		const { exit, stdout, stderr } = await dry(made);
		const [one, , three] = made.ids;
		expect(stdout).toBe(
			`document-0000001.txt (${one}) line 2\n  ~ author: "Ann" → "Bob"\n  ~ pages: 3 → 5\n` +
				`document-0000003.txt (${three}) line 4\n  - draft: true\n\n` +
				"2 documents would change; keys: 2 changed, 1 removed.\nKeys that would be removed: draft (1 document).\n",
		);
		expect(stderr).toContain("3 rows: 1 unchanged, 2 would change in");
		expect(exit).toBe(0);
		expect(await made.service.documents()).toEqual(before);
		expect(writes(made.service)).toEqual([]);
	});

	it("is coloured on a terminal, and plain where that is not wanted", async () => {
		const { service, path } = await world();
		const argv = ["docs", "tag", path, "-d", service.dataset, "--dry-run"];
		const shown = await ragtag(argv, { env: { ...envOf(service), TERM: "xterm" }, terminal: true });
		expect(shown.stdout).toContain("\u001b[31m  - draft: true");
		const bare = await ragtag([...argv, "--no-color"], { env: { ...envOf(service), TERM: "xterm" }, terminal: true });
		expect(bare.stdout).not.toContain("\u001b[3");
	});

	it("shows what a merge would do, --set included, and what it would not", async () => {
		const made = await world();
		const set = ["--set", "author=!delete", "--set", "topics:list=+x"];
		const { stdout } = await dry(made, "--json", "--mode", "merge", ...set);
		expect(parseLines(stdout).slice(1, -1)).toMatchObject([
			{ add: { topics: ["x"] }, change: { pages: { from: 3, to: 5 } }, remove: { author: "Ann" } },
			{ add: { topics: ["x"] }, change: {}, remove: { author: "Bob" } },
			{ add: { topics: ["x"] }, change: {}, remove: { author: "Bob" } },
		]);
	});

	it("exits 10 with --detailed-exitcode when something would change, and 0 when nothing would", async () => {
		const made = await world();
		const { exit, stdout, stderr } = await dry(made, "--detailed-exitcode", "--json");
		expect([exit, at(summaryOf(stdout), "exit_code")]).toEqual([10, 10]);
		expect(stderr).toContain("The same command without --dry-run");
		const argv = ["docs", "tag", made.path, "-d", made.service.dataset];
		expect((await ragtag(argv, { env: envOf(made.service) })).exit).toBe(0);
		const after = await dry(made, "--detailed-exitcode");
		expect([after.exit, after.stdout]).toEqual([0, "No document would change.\n"]);
	});

	it("reports missing documents with their lines, exits 1, and writes them to --failed", async () => {
		const { service, ids } = await world();
		const path = await file("tags.csv", `document_id,author\n${ids[0]},Bob\nabsent,Bob\n`);
		const failed = join(await folder(), "failed.csv");
		const { stdout, stderr } = await ends(
			dry({ service, path }, "--json", "--failed", failed, "--detailed-exitcode"),
			1,
			{ failed: 1, pending: 1 },
		);
		expect(stderr).toContain(`${path}:3: NOT_FOUND`);
		expect(parseLines(stdout)).toContainEqual(
			expect.objectContaining({ type: "row", line: 3, error_code: "NOT_FOUND" }),
		);
		expect(await readFile(failed, "utf8")).toMatch(/^document_id,author,_line.*\nabsent,Bob,3,NOT_FOUND,/);
	});

	it("prints the Markdown of what it saw if it is stopped, and says so", async () => {
		const { service, ids } = await world();
		const path = await file("tags.csv", `document_id,author\n${ids[0]},Bob\nabsent,Bob\nabsent2,Bob\n`);
		const { exit, stdout } = await dry({ service, path }, "--format", "md", "--max-errors", "1");
		expect(exit).toBe(9);
		expect(stdout).toMatch(/^The command was stopped, so more may change .*\n\n1 document would change/);
	});

	it("is not recorded as a run, and needs no lock", async () => {
		const made = await world();
		const state = await folder();
		expect((await dry(made, "--state-dir", state)).exit).toBe(0);
		await expect(stat(join(state, "runs"))).rejects.toThrow();
	});

	it("ends with a summary if the service becomes unreachable, and the rows are pending", async () => {
		const service = await liar(3, ({ path }) =>
			path.endsWith("/documents") ? { code: 109, message: "no" } : undefined,
		);
		const path = await file("tags.csv", "document_id,a\ndoc-0,1\n");
		const argv = ["docs", "tag", path, "-d", "set", "--dry-run", "--json"];
		await ends(ragtag(argv, { env: envOf(service) }), 4, { pending: 1 });
	});

	it.each(commandFlavours)("shows what a run then does at %s, and nothing after it", async (flavour) => {
		const service = await serve(220, { flavour });
		const ids = await service.ids();
		const rows = ids.map((document_id, n) =>
			JSON.stringify({ document_id, meta_fields: { n, tags: ["a; b", `t${n}`] } }),
		);
		const path = await file("tags.jsonl", rows.join("\n"));
		const shown = await ends(dry({ service, path }, "--json"), 0, { rows: 220, pending: 220 });
		expect(
			parseLines(shown.stdout)
				.slice(1, -1)
				.map((line) => at(line, "document_id")),
		).toEqual(ids);
		expect(writes(service)).toEqual([]);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000"];
		expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
		await ends(dry({ service, path }, "--json", "--detailed-exitcode"), 0, { unchanged: 220, pending: 0 });
	});
});
