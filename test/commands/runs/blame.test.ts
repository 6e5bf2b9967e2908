import { appendFile, readFile, writeFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { says } from "../../support/ended.ts";
import { planned } from "../../support/planned.ts";
import { recorded, runOf, stopAt } from "../../support/recorded.ts";
import { file } from "../../support/service.ts";
import { at, parse, parseLines } from "../../support/values.ts";

type World = Awaited<ReturnType<typeof recorded>>;

/** Tags the first document with what each manifest says, a run each. Names of the runs. */
async function tagged(world: World, lines: readonly string[]): Promise<string[]> {
	const [id = ""] = await world.service.ids();
	const runs: string[] = [];
	for (const [index, line] of lines.entries()) {
		const [head, cells] = line.split("/");
		const path = await file(`m${index}.csv`, `document_id,${head}\n${id},${cells}\n`);
		runs.push(runOf((await world.run(["docs", "tag", path, "-d", world.service.dataset, "--json"])).stdout));
	}
	return runs;
}

const OFFLINE = { env: {} };
const TERMINAL = { env: { NO_COLOR: "1" }, terminal: true };

it("the run that wrote last is named, also if the clock was set back before it", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [first] = await tagged(world, ["v/A"]);
	const earlier = Date.now() - 2 * 60 * 60 * 1000;
	const wall = vi.spyOn(Date, "now").mockReturnValue(earlier);
	const [last] = await tagged(world, ["v/B"]);
	wall.mockRestore();
	const { stdout } = await world.run(["runs", "blame", id, "--json"], OFFLINE);
	expect(last).not.toBe(first);
	expect(parseLines(stdout)).toEqual([expect.objectContaining({ key: "v", value: "B", run: last, certain: true })]);
});

it("each current value has the run, the line and the manifest that set it, without address or key", async () => {
	const world = await recorded(2);
	const [id = ""] = await world.service.ids();
	await world.service.put(id, { by_hand: "x", old: 1 });
	const [first, second] = await tagged(world, ["a,b,by_hand/1,2,x", "a,b,by_hand/1,3,x"]);
	const { exit, stdout, stderr } = await world.run(["runs", "blame", id, "--json"], OFFLINE);
	expect([exit, stderr]).toEqual([0, ""]);
	const place = { base_url: expect.stringContaining(world.service.url), dataset_id: world.service.dataset };
	const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
	const common = { ...place, document_id: id, command: "docs tag", line: 2, seen_by: null, time, certain: true };
	expect(parseLines(stdout)).toEqual([
		{ ...common, key: "a", value: "1", run: first, manifest: expect.stringContaining("m0.csv") },
		{ ...common, key: "b", value: "3", run: second, manifest: expect.stringContaining("m1.csv") },
		// It was there before, and no run recorded who wrote it.
		{ ...common, key: "by_hand", value: "x", run: null, command: null, manifest: null, line: null, seen_by: first },
	]);
});

it("writes of other clients between two runs are attributed to no run, and --all shows them in order", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [first] = await tagged(world, ["a,b/1,2"]);
	await world.service.put(id, { a: "other", b: "2" });
	const [second] = await tagged(world, ["a,c/other,5"]);
	const lines = parseLines((await world.run(["runs", "blame", id, "--json"], OFFLINE)).stdout);
	expect(lines).toMatchObject([
		{ key: "a", value: "other", run: null, seen_by: second },
		{ key: "c", value: "5", run: second },
	]);
	const all = parseLines((await world.run(["runs", "blame", id, "--all", "--json"], OFFLINE)).stdout);
	expect(all).toMatchObject([
		{ action: "add", key: "a", from: null, to: "1", run: first, line: 2 },
		{ action: "add", key: "b", to: "2", run: first },
		{ action: "change", key: "a", from: "1", to: "other", run: null, seen_by: second },
		{ action: "add", key: "c", to: "5", run: second },
		{ action: "remove", key: "b", from: "2", run: second },
	]);
	const table = await world.run(["runs", "blame", id], TERMINAL);
	expect(table.stdout).toMatch(/^key +value +run +line +manifest/);
	expect(table.stdout).toContain("not by a recorded run");
	expect(table.stdout).not.toContain(world.service.dataset);
	const piped = await world.run(["runs", "blame", id, "--all"], OFFLINE);
	expect(piped.stdout.split("\n")[0]).toBe(
		"time\trun\tline\tkey\taction\tfrom\tto\tmanifest\tcommand\tstatus\tdataset_id\tbase_url",
	);
});

it("a terminal of 80 columns shows the whole name of the run, and omits the column of its time", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [run = ""] = await tagged(world, [`a,b/1,${"x".repeat(100)}`]);
	for (const argv of [
		["runs", "blame", id],
		["runs", "blame", id, "--all"],
		["runs", "list"],
	]) {
		const { stdout } = await world.run(argv, { ...TERMINAL, columns: 80 });
		expect(stdout).toContain(`${run}  `);
		expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
	}
	const wide = await world.run(["runs", "blame", id], { ...TERMINAL, columns: 200 });
	expect(wide.stdout).toMatch(/^key +value +run +line +manifest +command +time +status/);
});

it("a row of a plan is shown with the line and name of the original manifest", async () => {
	const world = await planned(3, (n) => n === 2);
	await world.run(world.applying);
	const [id = ""] = world.ids.slice(2);
	const { stdout } = await world.run(["runs", "blame", id, "--json"], OFFLINE);
	const set = { key: "n", value: 1002, command: "docs apply", manifest: world.manifest, line: 4 };
	expect(parseLines(stdout)).toContainEqual(expect.objectContaining(set));
});

it("an undo is a run like any other, and a removal says which run removed the document", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [first] = await tagged(world, ["a/1", "a/2"]);
	const undo = runOf((await world.run(["runs", "undo", "--yes", "--json"])).stdout);
	const blame = async (): Promise<readonly unknown[]> =>
		parseLines((await world.run(["runs", "blame", id, "--json"], OFFLINE)).stdout);
	expect(await blame()).toMatchObject([{ key: "a", value: "1", run: undo, command: "runs undo" }]);
	expect(first).not.toBe(undo);
	const rm = await world.run(["docs", "rm", "--id", id, "-d", world.service.dataset, "--yes", "--json"]);
	expect(await blame()).toMatchObject([{ key: null, value: null, run: runOf(rm.stdout), command: "docs rm" }]);
	const { stdout } = await world.run(["runs", "blame", id, "--format", "csv"], OFFLINE);
	expect(stdout.split("\n")[1]).toContain(",removed,");
});

it("an uploaded document's values are its upload's", async () => {
	const world = await recorded(1);
	const path = await file("u.csv", "file,a\nu.csv,1\n");
	const upload = await world.run(["docs", "upload", path, "-d", world.service.dataset, "--json"]);
	const id = (await world.service.ids()).at(-1) ?? "";
	expect(parseLines((await world.run(["runs", "blame", id, "--json"], OFFLINE)).stdout)).toMatchObject([
		{ key: "a", value: "1", run: runOf(upload.stdout), command: "docs upload", line: 2, certain: true },
	]);
});

it("a value that may not have arrived is in doubt", async () => {
	const world = await recorded(1, stopAt(1));
	const [id = ""] = await world.service.ids();
	await tagged(world, ["a/1"]);
	const { stdout } = await world.run(["runs", "blame", id], OFFLINE);
	expect(stdout.split("\n")[1]).toContain("\tin doubt: no answer is known\t");
	expect(parse((await world.run(["runs", "blame", id, "--json"], OFFLINE)).stdout)).toMatchObject({ certain: false });
});

it("a document that no run wrote is exit 1, and so is one of another dataset or address", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	await says(world.run(["runs", "blame", id], OFFLINE), 1, `no recorded run wrote document ${id}`);
	await tagged(world, ["a/1"]);
	const exitOf = async (...more: string[]): Promise<number> =>
		(await world.run(["runs", "blame", id, ...more], OFFLINE)).exit;
	expect(await exitOf()).toBe(0);
	expect(await exitOf("-d", world.service.dataset, "--base-url", world.service.url)).toBe(0);
	expect(await exitOf("-d", "f".repeat(32))).toBe(1);
	// A name needs the service.
	expect(await exitOf("-d", "other")).toBe(2);
	expect(await exitOf("--base-url", "http://127.0.0.1:1")).toBe(1);
});

it("the same id at two addresses is two documents, shown apart", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	await tagged(world, ["a/1"]);
	const [run = ""] = await world.folders();
	const path = world.path(run, "run.json");
	// What a run against another address would have left.
	const text = await readFile(path, "utf8");
	await tagged(world, ["a/2"]);
	await writeFile(path, text.replaceAll(world.service.url, "http://other.example"));
	const { stdout } = await world.run(["runs", "blame", id], TERMINAL);
	expect(stdout.split("\n")).toEqual([
		expect.stringMatching(/^In dataset \S+ at http:\/\/other\.example/),
		expect.stringMatching(/^key /),
		expect.stringMatching(/^a +1 /),
		expect.stringContaining(`at ${world.service.url}`),
		expect.stringMatching(/^key /),
		expect.stringMatching(/^a +2 /),
		"",
	]);
	expect(parseLines((await world.run(["runs", "blame", id, "--json"], OFFLINE)).stdout)).toMatchObject([
		{ value: "1", base_url: expect.stringContaining("http://other.example") },
		{ value: "2", base_url: expect.stringContaining(world.service.url) },
	]);
});

it("a damaged run is skipped with the command that repairs it, and a torn end is no damage", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [first = "", second] = await tagged(world, ["a/1", "b/2"]);
	await appendFile(world.path(first, "journal.log"), "0000");
	const torn = await world.run(["runs", "blame", id, "--all"], OFFLINE);
	expect([torn.stderr, torn.stdout]).toEqual(["", expect.stringContaining(first)]);
	const path = world.path(first, "journal.log");
	const lines = (await readFile(path, "utf8")).split("\n");
	await writeFile(path, lines.map((line) => (line.includes(" su ") ? line.replace('"1"', '"7"') : line)).join("\n"));
	const { stdout } = await says(world.run(["runs", "blame", id, "--json"], OFFLINE), 0, `ragtag runs repair ${first}`);
	expect(parse(stdout)).toEqual(expect.objectContaining({ key: "b", run: second }));
});

it("takes the name of a dataset: four values would be of no run", async () => {
	const world = await recorded(1);
	const [id = ""] = await world.service.ids();
	const [run] = await tagged(world, ["a,b/1,2"]);
	const listed = parseLines((await world.run(["datasets", "list", "--format", "jsonl"])).stdout);
	const name = String(at(listed[0], "name"));
	const blamed = async (...dataset: string[]): Promise<unknown> =>
		parseLines((await world.run(["runs", "blame", id, "--json", "-d", ...dataset])).stdout);
	expect(await blamed(name)).toMatchObject([
		{ key: "a", run },
		{ key: "b", run },
	]);
	const offline = await world.run(["runs", "blame", id, "--json", "-d", world.service.dataset], OFFLINE);
	expect([offline.exit, parseLines(offline.stdout).length]).toEqual([0, 2]);
	await says(world.run(["runs", "blame", id, "-d", `${name}x`]), 2, `Did you mean ${name}?`);
	await says(world.run(["runs", "blame", id, "-d", "f".repeat(32)]), 1, `in dataset ${"f".repeat(32)}`);
});
