import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Clock } from "../../../src/run/types.ts";
import type { PlannedFault } from "../../../src/sandbox/faults/plan.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { commandFlavours } from "../../support/whole.ts";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { type Recorded, recorded, refuseAt, runOf, stopAt, tagged, tagging } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { at, linesOf, parseLines, range, summaryOf } from "../../support/values.ts";

const FAST = ["--rate", "5000", "--json"];
const undo = (world: Recorded, ...more: readonly string[]) => world.run(["runs", "undo", "--yes", ...FAST, ...more]);

/** Everything that the service has, in the order in which it lists it. */
const held = async ({ service }: Recorded): Promise<string> => JSON.stringify(await service.documents());

/** Writes metadata of its own onto documents, as somebody else would: with a state folder of their own. */
async function somebodyElse({ service }: Recorded, ids: readonly string[], metadata: object): Promise<void> {
	const lines = ids.map((document_id) => JSON.stringify({ document_id, meta_fields: metadata }));
	const argv = ["docs", "tag", await file("other.jsonl", lines.join("\n")), "-d", service.dataset, ...FAST];
	expect((await ragtag(argv, { env: envOf(service), home: await folder() })).exit).toBe(0);
}

/** Uploads files of these names. */
async function uploaded(world: Recorded, names: readonly string[]): ReturnType<Recorded["run"]> {
	const files = await Promise.all(names.map((name) => file(name, name)));
	return world.run(["docs", "upload", ...files, "-d", world.service.dataset, "--set", "by=me", ...FAST]);
}

/** A clock whose waits take no time, and which reports the first wait of more than half a second. */
function clockUntil(onWait: () => void): Clock {
	let slept = 0;
	return {
		now: () => performance.now() + slept,
		sleep: async (milliseconds) => {
			slept += milliseconds;
			if (milliseconds > 500) onWait();
		},
		random: () => 0,
	};
}

const ODD = [
	{ "": "empty", "7": 1, b: "x", __proto__x: [1, "a,b"], list: ["x", "y"], nested: '{"a":1}' },
	{ text: 'a "quote", a\nline and 007', zero: 0, no: false, float: 0.1 },
	{ list: [], long: "é".repeat(200), when: "2024-02-30" },
] as const;

const SECOND = { method: "PUT", document: "00000000000000000000000000000002", times: 1 } as const;

describe("an undo", () => {
	// v0.24.0 merges: an undo can't remove what the run has added.
	it.each(commandFlavours.filter((flavour) => flavour !== "ragflow-0.24"))(
		"restores every document byte for byte, whatever it had, at %s",
		async (flavour: Flavour) => {
			const world = await recorded(40, { flavour });
			const ids = await world.service.ids();
			// The search engine of later releases takes no empty key, and no list of two types under a new key.
			const { "": _empty, __proto__x: _mixed, ...first } = ODD[0];
			// v1.0 takes no boolean.
			const second = flavour === "ragflow-1.0" ? { ...ODD[1], no: "no" } : ODD[1];
			const odd = flavour >= "ragflow-0.25" ? [first, second, ODD[2]] : ODD;
			for (const [n, metadata] of odd.entries()) {
				await somebodyElse(
					world,
					ids.filter((_, at) => at % 4 === n),
					metadata,
				);
			}
			const before = await held(world);
			const { argv } = await tagging(world);
			const tagged = await world.run(argv);
			expect(await held(world)).not.toBe(before);
			const { stdout } = await ends(undo(world), 0, { rows: 40, updated: 40, failed: 0, undoable: true });
			expect(await held(world)).toBe(before);
			// And it can be undone itself.
			await ends(undo(world, runOf(stdout)), 0, { updated: 40 });
			const values = (await world.service.documents()).map(({ metadata }) => at(metadata, "n"));
			expect(new Set(values).size).toBe(40);
			expect(runOf(tagged.stdout)).not.toBe(runOf(stdout));
		},
	);

	it("leaves a document alone that another client changed since, lists it with its line, and is exit 1; --force overrides", async () => {
		const world = await recorded(20);
		const ids = await world.service.ids();
		const before = await held(world);
		const { path, argv } = await tagging(world);
		const tagged = runOf((await world.run(argv)).stdout);
		await somebodyElse(world, ids.slice(4, 6), { mine: "keep" });
		const { exit, stdout, stderr } = await undo(world, tagged);
		expect(exit).toBe(1);
		const undone = { reversed: 18, kept: 2, failed: 0, unchanged: 0, impossible: 0 };
		expect(summaryOf(stdout)).toMatchObject({ updated: 18, failed: 2, exit_code: 1, undone });
		// Rows end in the order in which the service answers.
		const rows = parseLines(stdout)
			.filter((line) => at(line, "type") === "row")
			.map((row) => [at(row, "line"), at(row, "document_id"), at(row, "error_code")]);
		expect(new Set(rows.map(String))).toEqual(new Set([`6,${ids[4]},CONFLICT`, `7,${ids[5]},CONFLICT`]));
		expect(stderr).toContain(`Undo of ${tagged}: 18 reversed, 2 kept because they were changed since, 0 failed.`);
		// A dry run of it promises no change where there is none.
		const shown = await world.run(["runs", "undo", tagged, "--dry-run"]);
		expect(shown.stderr.trimEnd().split("\n").at(-1)).toMatch(
			/a second\. --force also changes documents that were changed since\.$/,
		);
		const kept = (await world.service.documents()).filter(({ metadata }) => at(metadata, "mine") === "keep");
		expect(kept).toHaveLength(2);
		expect(path).not.toBe("");

		await ends(world.run(["runs", "retry", runOf(stdout), "--force", ...FAST]), 0, { updated: 20, failed: 0 });
		expect(await held(world)).toBe(before);
	});

	it("leaves a document alone that another client changes during the undo", async () => {
		let isUndoing = false;
		// A list of so many documents takes more requests than four rows.
		const service = await liar(600, ({ method }) => {
			if (isUndoing && method !== "GET") service.held.set("doc-3", { mine: "keep" });
			return undefined;
		});
		const world = { env: envOf(service), home: await folder() };
		const rows = await file("t.csv", `document_id,n\n${linesOf(4, (n) => `doc-${n},${n}`)}`);
		expect(await ragtag(["docs", "tag", rows, "-d", "set", ...FAST], world)).toMatchObject({ exit: 0 });
		isUndoing = true;
		const argv = ["runs", "undo", "--yes", "--concurrency", "1", "--chunk", "1", ...FAST];
		await ends(ragtag(argv, world), 1, { updated: 3, failed: 1 });
		expect(service.held.get("doc-3")).toEqual({ mine: "keep" });
	});

	it("is previewed by --dry-run, which does not ask, records nothing and sends nothing that writes", async () => {
		const { world } = await tagged(5);
		const [writes, folders] = [world.writes(), (await world.folders()).length];
		const { exit, stdout } = await world.run(["runs", "undo", "--dry-run", "--detailed-exitcode", "--json"]);
		expect(exit).toBe(10);
		const changes = parseLines(stdout).filter((line) => at(line, "type") === "change");
		expect(changes).toHaveLength(5);
		expect(changes[0]).toMatchObject({ action: "update", line: 2, remove: { n: 0 } });
		expect(summaryOf(stdout)).toMatchObject({ changes: 5, pending: 5, run: null });
		expect([world.writes(), (await world.folders()).length]).toEqual([writes, folders]);
	});

	it("of an upload removes the others by one request, where the service removes all or none", async () => {
		const world = await recorded(6, { flavour: "ragflow-0.27" });
		const before = await world.service.ids();
		await uploaded(
			world,
			range(60).map((n) => `${n}.txt`),
		);
		await ends(undo(world), 0, { removed: 60, failed: 0 });
		expect((await world.service.ids()).toSorted()).toEqual(before.toSorted());
		const removals = world.service.requests.filter((request) => request.startsWith("DELETE"));
		expect(removals).toHaveLength(2);
	});

	it("of an upload removes exactly the documents that it created, and none that another client tagged since", async () => {
		const world = await recorded(6);
		const before = await world.service.ids();
		await ends(uploaded(world, ["a.txt", "b.txt", "c.txt"]), 0, { uploaded: 3, undoable: true });
		const made = (await world.service.ids()).filter((id) => !before.includes(id));
		await somebodyElse(world, made.slice(0, 1), { by: "you" });
		const shown = await world.run(["runs", "undo", "--dry-run", "--json"]);
		const actions = parseLines(shown.stdout).filter((line) => at(line, "type") === "change");
		expect(actions).toMatchObject([{ action: "remove", remove: { by: "me" } }, { action: "remove" }]);
		const { stdout } = await says(undo(world), 1, ": 3 uploaded documents will be removed.");
		expect(summaryOf(stdout)).toMatchObject({ removed: 2, failed: 1, undoable: false, undo: null });
		expect((await world.service.ids()).toSorted()).toEqual([...before, ...made.slice(0, 1)].toSorted());
		// What is removed is gone.
		expect(await undo(world, runOf(stdout))).toMatchObject({ exit: 1 });
	});

	it("of an upload that is resumed removes no document that another client tagged meanwhile", async () => {
		const world = await recorded(0, stopAt(2, "DELETE"));
		await uploaded(world, ["a.txt", "b.txt", "c.txt"]);
		const stopped = await world.run(["runs", "undo", "--yes", "--concurrency", "1", "--chunk", "1", ...FAST]);
		expect(summaryOf(stopped.stdout)).toMatchObject({ removed: 1, pending: 2, exit_code: 4 });
		await somebodyElse(world, await world.service.ids(), { mine: "keep" });
		await ends(world.run(["runs", "resume", runOf(stopped.stdout), "--yes", ...FAST]), 1, { removed: 1, failed: 2 });
		const left = (await world.service.documents()).map(({ metadata }) => metadata);
		expect(left).toEqual([{ mine: "keep" }, { mine: "keep" }]);
	});

	it("suggests to retry failed rows, not to feed them to docs tag, which would clear documents that should be removed", async () => {
		const world = await recorded(0, refuseAt(1, "DELETE"));
		await uploaded(world, ["a.txt", "b.txt"]);
		const { stdout, stderr } = await ends(undo(world), 1, { removed: 1, failed: 1 });
		expect(stderr.trimEnd().split("\n").at(-1)).toContain(`again: ragtag runs retry ${runOf(stdout)}`);
		expect(stderr).not.toContain("send it as a manifest");
	});

	it("of an upload that only replaced metadata restores it, and removes nothing", async () => {
		const world = await recorded(3);
		const [first] = await world.service.documents();
		await somebodyElse(world, [first?.id ?? ""], { old: 1 });
		const before = await held(world);
		const path = await file(first?.name ?? "", "");
		const argv = ["docs", "upload", path, "-d", world.service.dataset, "--set", "new=2"];
		const { stdout } = await world.run([...argv, "--on-existing", "update-metadata", ...FAST]);
		expect(summaryOf(stdout)).toMatchObject({ updated: 1, undoable: true });
		expect(await undo(world)).toMatchObject({ exit: 0 });
		expect(await held(world)).toBe(before);
	});

	it("of a removal is refused with exit 2, and nothing is sent", async () => {
		const world = await recorded(3);
		const [id = ""] = await world.service.ids();
		await world.run(["docs", "rm", "--id", id, "-d", world.service.dataset, "--yes", ...FAST]);
		const asked = world.service.requests.length;
		await says(undo(world), 2, "a removal can't be undone; nothing was sent");
		expect(world.service.requests).toHaveLength(asked);
	});

	it("asks, and without a terminal sends nothing unless --yes is given", async () => {
		const world = await recorded(3);
		await world.run((await tagging(world)).argv);
		const asked = world.service.requests.length;
		expect(await world.run(["runs", "undo"])).toMatchObject({ exit: 2 });
		expect(world.service.requests).toHaveLength(asked);
	});

	it("that is resumed keeps the undone run from being resumed meanwhile", async () => {
		const { world, run } = await tagged(20, stopAt(30));
		const stopped = await world.run(["runs", "undo", "--yes", "--concurrency", "1", "--chunk", "1", ...FAST]);
		const beforeConnecting = async (): Promise<void> => {
			expect(await world.run(["runs", "retry", run, ...FAST])).toMatchObject({ exit: 2 });
		};
		const { exit } = await world.run(["runs", "resume", runOf(stopped.stdout), "--yes", ...FAST], { beforeConnecting });
		expect(exit).toBe(0);
	});

	it("of a stopped run undoes its writes, and changes nothing else", async () => {
		const world = await recorded(20, stopAt(8));
		const before = await held(world);
		const tagged = await ends(world.run((await tagging(world)).argv), 4, {});
		const { exit, stdout } = await undo(world, runOf(tagged.stdout));
		expect(exit).toBe(0);
		// The row that was in flight may have arrived or not, and the next one may be recorded already: both are as they were
		// before in any case.
		expect([8, 9]).toContain(at(summaryOf(stdout), "rows"));
		expect(await held(world)).toBe(before);
	});

	it("also undoes what the run writes until the undo has its lock", async () => {
		const world = await recorded(20, stopAt(8));
		const before = await held(world);
		const tagged = runOf((await world.run((await tagging(world)).argv)).stdout);
		const beforeConnecting = async (): Promise<void> => {
			expect(await world.run(["runs", "resume", tagged, ...FAST])).toMatchObject({ exit: 0 });
		};
		await ends(world.run(["runs", "undo", tagged, "--yes", ...FAST], { beforeConnecting }), 0, {
			rows: 20,
			updated: 20,
		});
		expect(await held(world)).toBe(before);
	});

	it("of a run that sent nothing is a success of no rows, also in the summary for scripts", async () => {
		const { world, argv } = await tagged(2);
		const same = runOf((await world.run([...argv, "--only-changed"])).stdout);
		const { stderr } = await ends(undo(world, same), 0, { rows: 0, run: null });
		expect(stderr).toContain(`Run ${same} sent nothing, so there is nothing to undo.`);
	});

	it("does not trust a list that lags the run: documents would keep the values of the run", async () => {
		// However long this machine takes, the undo comes straight behind the run.
		const wall = vi.spyOn(Date, "now").mockReturnValue(Date.now());
		onTestFinished(() => wall.mockRestore());
		let lags = false;
		const service = await liar(2, ({ method, path, query }) => {
			if (!lags || method !== "GET" || !path.endsWith("/documents")) return undefined;
			const ids = query.get("page") === "2" ? [] : ["doc-0", "doc-1"];
			const docs = ids.map((id) => ({ id, dataset_id: "set", name: `${id}.txt`, meta_fields: {} }));
			return { code: 0, data: { total: docs.length, docs } };
		});
		const world = { env: envOf(service), home: await folder() };
		const path = await file("t.csv", "document_id,n\ndoc-0,1\ndoc-1,2\n");
		expect(await ragtag(["docs", "tag", path, "-d", "set", ...FAST], world)).toMatchObject({ exit: 0 });
		lags = true;
		const clock = clockUntil(() => (lags = false));
		await ends(ragtag(["runs", "undo", "--yes", ...FAST], { ...world, clock }), 0, { updated: 2, unchanged: 0 });
		expect([...service.held.values()]).toEqual([{}, {}]);
	});

	it("is previewed by a list that no longer lags the run, and not document by document", async () => {
		const wall = vi.spyOn(Date, "now").mockReturnValue(Date.now());
		onTestFinished(() => wall.mockRestore());
		const count = 250;
		let lags = false;
		const service = await liar(count, ({ method, path, query }) => {
			if (!lags || method !== "GET" || !path.endsWith("/documents")) return undefined;
			const size = Number(query.get("page_size"));
			const start = (Number(query.get("page")) - 1) * size;
			const docs = range(count).map((n) => ({ id: `doc-${n}`, dataset_id: "set", name: `${n}.txt`, meta_fields: {} }));
			return { code: 0, data: { total: count, docs: docs.slice(start, start + size) } };
		});
		const world = { env: envOf(service), home: await folder() };
		const rows = range(count).map((n) => `doc-${n},${n}\n`);
		const path = await file("t.csv", `document_id,n\n${rows.join("")}`);
		expect(await ragtag(["docs", "tag", path, "-d", "set", ...FAST], world)).toMatchObject({ exit: 0 });
		lags = true;
		const clock = clockUntil(() => (lags = false));
		const from = service.requests.length;
		await ends(ragtag(["runs", "undo", "--dry-run", ...FAST], { ...world, clock }), 0, {
			pending: count,
			unchanged: 0,
		});
		// Three pages and one that brings nothing new, and a few for what the service is.
		expect(service.requests.length - from).toBeLessThanOrEqual(10);
	});

	it("of a run undoes the others if one document had more than can be recorded", async () => {
		const service = await liar(2, () => undefined);
		const of = (text: string): object => Object.fromEntries(range(4).map((n) => [`k${n}`, text.repeat(990_000)]));
		const before = of("語");
		service.held.set("doc-0", before);
		const world = { env: envOf(service), home: await folder() };
		const rows = [of("木"), { n: 1 }].map((meta_fields, n) => JSON.stringify({ document_id: `doc-${n}`, meta_fields }));
		const argv = ["docs", "tag", await file("t.jsonl", rows.join("\n")), "-d", "set", ...FAST];
		await ends(ragtag(argv, world), 0, { updated: 2 });
		await ends(ragtag(["runs", "undo", "--yes", ...FAST], world), 1, { updated: 1, invalid: 1 });
		expect(service.held.get("doc-1")).toEqual({});
	});

	it.each([
		["ragflow-0.23", ["a;b"], ["a", "b"]],
		["ragflow-0.23", ["a", "b"], ["a;b"]],
		["ragflow-0.18", ["Smith, John"], ["Smith", "John"]],
	] as const)("at %s restores %j, which later releases would keep like %j", async (flavour, was, tagged) => {
		const world = await recorded(1, { flavour });
		const [id = ""] = await world.service.ids();
		await somebodyElse(world, [id], { list: was });
		const before = await held(world);
		const path = await file("t.jsonl", JSON.stringify({ document_id: id, meta_fields: { list: tagged } }));
		await world.run(["docs", "tag", path, "-d", world.service.dataset, ...FAST]);
		expect(await held(world)).not.toBe(before);
		await ends(undo(world), 0, { updated: 1 });
		expect(await held(world)).toBe(before);
	});

	it("finds everything restored the second time, and writes nothing", async () => {
		const { world, run } = await tagged(5);
		await undo(world, run);
		const shown = await world.run(["runs", "show", run]);
		expect(shown.stdout).toContain(`Undo it with: ragtag runs undo ${run}`);
		const writes = world.writes();
		await ends(undo(world, run), 0, { unchanged: 5, updated: 0 });
		expect(world.writes()).toBe(writes);
	});

	it("counts the rows without a known previous value, and is no success for them", async () => {
		const world = await recorded(4);
		await world.run([...(await tagging(world)).argv, "--no-undo"]);
		const writes = world.writes();
		const { stderr } = await ends(undo(world), 1, { rows: 4, invalid: 4, updated: 0 });
		expect(stderr).toContain("4 can't be undone");
		expect(stderr.trimEnd()).toMatch(/The others were not changed: ragtag docs list shows what they have\.$/);
		expect(world.writes()).toBe(writes);
	});

	it("ignores rows that the service refused: a run with a wrong id is undone as a whole", async () => {
		const world = await recorded(4);
		const before = await held(world);
		const lines = [...(await world.service.ids()), "nobody"].map((id) => `${id},new\n`).join("");
		const path = await file("tags.csv", `document_id,author\n${lines}`);
		const tagged = await world.run(["docs", "tag", path, "-d", world.service.dataset, ...FAST]);
		expect(summaryOf(tagged.stdout)).toMatchObject({ updated: 4, failed: 1, undoable: true });
		await ends(undo(world), 0, { rows: 4, updated: 4, invalid: 0 });
		expect(await held(world)).toBe(before);
	});

	it.each<[string, PlannedFault, Flavour]>([
		["whose answer was lost: its write may have arrived", { fault: "reset", when: "after", on: SECOND }, "documented"],
		[
			"that RAGFlow failed with its code for an exception: that may follow the write",
			{ fault: "code", code: 100, message: "(2013, 'Lost connection')", when: "after", on: { ...SECOND, from: 2 } },
			"ragflow-0.24",
		],
	])("includes a failed row %s", async (_, fault, flavour) => {
		const world = await recorded(2, { faults: { faults: [fault] }, flavour });
		// v0.24.0 merges, and can't remove a key that the run adds.
		if (flavour !== "documented") for (const id of await world.service.ids()) await world.service.put(id, { n: 99 });
		const before = await held(world);
		const { argv } = await tagging(world);
		await ends(world.run([...argv, "--attempts", "1"]), 1, { updated: 1, failed: 1, undoable: true });
		expect((await world.service.documents()).every(({ metadata }) => at(metadata, "n") !== undefined)).toBe(true);
		await ends(undo(world), 0, { rows: 2, updated: 2 });
		expect(await held(world)).toBe(before);
	});

	it.each([
		["two of ten", 2, { rows: 10, updated: 8, invalid: 2 }],
		["all", 10, { rows: 10, updated: 0, invalid: 10 }],
	])("is no success where a repair lost %s records of what was sent", async (_name, lost, counts) => {
		const { world, run } = await tagged(10);
		const path = world.path(run, "journal.log");
		let left = lost;
		const lines = (await readFile(path, "utf8")).split("\n");
		const damaged = lines.map((line) => (line.includes(" su ") && left-- > 0 ? line.replace(/.$/, "?") : line));
		await writeFile(path, damaged.join("\n"));
		expect(await world.run(["runs", "repair", run])).toMatchObject({ exit: 0 });
		const { stdout } = await says(undo(world), 1, `${lost} can't be undone`);
		expect(summaryOf(stdout)).toEqual(expect.objectContaining(counts));
	});

	it("does not take the run's own write for the previous value if a repair lost its record", async () => {
		const { world, run } = await tagged(4, stopAt(4));
		const path = world.path(run, "journal.log");
		const lines = (await readFile(path, "utf8")).split("\n");
		// The records of the second row.
		const isLost = (line: string): boolean => / (?:su|ou) 1 /.test(line);
		await writeFile(path, lines.map((line) => (isLost(line) ? line.replace(/.$/, "?") : line)).join("\n"));
		expect(await world.run(["runs", "repair", run])).toMatchObject({ exit: 0 });
		await ends(world.run(["runs", "resume", run, ...FAST]), 0, { rows: 4, updated: 4 });
		await ends(undo(world, run), 1, { updated: 3, invalid: 1 });
	});
});
