import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { runOf, stopAt } from "../../support/recorded.ts";
import { PAPERS, synced } from "../../support/synced.ts";
import { parseLines } from "../../support/values.ts";

const ALONE = ["--concurrency", "1", "--chunk", "1"];

/** A first sync that a refused key ends after its first file. */
async function stopped() {
	const world = await synced(PAPERS, stopAt(3, "POST"));
	const ended = await world.sync(...ALONE);
	expect([ended.exit, (await world.contents()).length]).toEqual([4, 1]);
	return { ...world, name: runOf(ended.stdout) };
}

it("a sync that was stopped goes on with the next one: no file is stored twice, and none is foreign", async () => {
	const { sync, contents, write } = await stopped();
	await write("new.txt", "new");
	await says(sync(), 0, "did not end: it goes on first");
	expect(await contents()).toEqual([...Object.entries(PAPERS).slice(0, 3), ["new.txt", "new"], ["top.md", "top"]]);
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("a sync whose first rows were all refused is replaced by the next one, whose options hold", async () => {
	const files = Array.from({ length: 12 }, (_, n) => [`hr/${100 + n}.txt`, `text ${n}`] as const);
	const nth = Array.from({ length: 10 }, (_, n) => n + 1);
	const { sync, contents, run } = await synced(Object.fromEntries(files), {
		faults: {
			faults: [{ fault: "code", code: 102, when: "before", on: { method: "POST", path: "/documents$", nth } }],
		},
	});
	const refused = await says(sync(...ALONE), 9, "the first 10 rows all failed");
	await says(sync("--names", "flat"), 0, `${runOf(refused.stdout)} did not end, and is superseded`);
	expect(await contents()).toEqual(files.map(([name, text]) => [name.replace("/", "__"), text]));
	expect((await run(["runs", "resume"])).exit).toBe(2);
	expect(await sync("--names", "flat")).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("runs resume ends it too, and the state knows what it stored", async () => {
	const { sync, contents, run, name } = await stopped();
	const resumed = await run(["runs", "resume", name, "--json", "--rate", "5000"]);
	expect([resumed.exit, await contents()]).toEqual([0, Object.entries(PAPERS)]);
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("a plan of a sync that was stopped is resumed before another sync: what it stored is not known yet", async () => {
	const { sync, contents, run, home } = await synced(PAPERS, stopAt(3, "POST"));
	const plan = join(home, "plan.jsonl");
	await sync("--out", plan);
	const applied = await run(["docs", "apply", plan, "--json", ...ALONE]);
	expect(applied.exit).toBe(4);
	await says(sync(), 2, "End it first: ragtag runs resume");
	expect((await run(["runs", "resume", runOf(applied.stdout), "--rate", "5000"])).exit).toBe(0);
	expect(await contents()).toEqual(Object.entries(PAPERS));
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("the new document of a replacement that failed is removed once its file has changed again", async () => {
	const on = { method: "GET", path: "/documents/[0-9a-f]{32}$", nth: 1 };
	const { sync, contents, write } = await synced(
		{ "a.txt": "a", "b.txt": "b" },
		{ faults: { faults: [{ fault: "code", code: 102, when: "before", on }] } },
	);
	await sync();
	await write("a.txt", "a second");
	expect((await sync()).exit).toBe(1);
	expect(await contents()).toContainEqual(["a(1).txt", "a second"]);
	await write("a.txt", "a third, longer");
	expect((await sync("--remove")).exit).toBe(0);
	expect(await contents()).toEqual([
		["a.txt", "a third, longer"],
		["b.txt", "b"],
	]);
});

it("an older sync that is retried leaves a document to a newer run that wrote it", async () => {
	const { sync, run, service, ids, held, write, home } = await synced({ "a.txt": "a", "b.txt": "b" });
	await sync();
	const [id = ""] = (await ids()).values();
	await write("a.txt.meta.json", '{"by":"the sync"}');
	await write("b.txt.meta.json", '{"by":"the sync"}');
	await service.put(id, { by: "hand" });
	const done = await sync("--max-errors", "1");
	expect(done.exit).toBe(0);
	const tags = join(home, "tags.csv");
	await writeFile(tags, `document_id,by\n${id},a newer run\n`);
	expect((await run(["docs", "tag", tags, "-d", service.dataset, "--mode", "merge"])).exit).toBe(0);
	const undone = await run(["runs", "undo", runOf(done.stdout), "--yes", "--json"]);
	expect([undone.exit, undone.stdout]).toEqual([1, expect.stringContaining('"error_code":"CONFLICT"')]);
	const metadata = (await held()).map((each) => each.metadata);
	expect(metadata).toContainEqual({ by: "a newer run" });
});

it("shows and verifies a sync as any other run", async () => {
	const { sync, run, move, write, ids, service } = await synced(PAPERS);
	await sync();
	for (const id of (await ids()).values()) await service.put(id, { by: "hand" });
	await move("hr/b.txt", "c.txt");
	await write("new.txt", "new");
	const name = runOf((await sync()).stdout);
	const verified = await run(["runs", "verify", name, "--json"]);
	expect([verified.exit, verified.stdout]).toEqual([0, expect.stringContaining('"equal":2')]);
	const shown = await run(["runs", "show", name, "--json"]);
	expect([shown.exit, JSON.parse(shown.stdout)]).toMatchObject([0, { command: "docs sync", counts: { renamed: 1 } }]);
});

it("a sync that could not write its state is taken over by the next one, and no file is FOREIGN or stored twice", async () => {
	const { sync, contents, home, service } = await synced(PAPERS, { latency: 20 });
	const state = join(home, "of-sync", "state.jsonl");
	const running = sync("--state", state, ...ALONE);
	while (!service.requests.some((line) => line.startsWith("POST"))) await setTimeout(2);
	await rm(dirname(state), { recursive: true });
	await writeFile(dirname(state), "");
	await says(running, 7, "can't be written: not a directory");
	await rm(dirname(state));
	expect(await sync("--state", state)).toMatchObject({ exit: 0, summary: { rows: 0 } });
	expect(await contents()).toEqual(Object.entries(PAPERS));
});

it("sends nothing where the state can't be written", async () => {
	const { sync, home, writes } = await synced(PAPERS);
	await writeFile(join(home, "file"), "");
	const refused = await sync("--state", join(home, "file", "state.jsonl"));
	expect([refused.exit, writes()]).toEqual([7, 0]);
});

it("writes over no file that is no state, and stores no state that is in the folder", async () => {
	const { sync, contents, root } = await synced(PAPERS);
	for (const flag of ["--adopt", "--no-adopt"]) {
		await says(sync("--state", join(root, "top.md"), flag), 8, "is no state of a sync");
	}
	expect((await sync("--state", "/dev/null")).exit).toBe(8);
	expect(await readFile(join(root, "top.md"), "utf8")).toBe("top");
	const own = ["--state", join(root, "state.jsonl")];
	expect((await sync(...own)).exit).toBe(0);
	expect(await sync(...own)).toMatchObject({ exit: 0, summary: { rows: 0 } });
	expect(await contents()).toEqual(Object.entries(PAPERS));
});

it("writes the rows that failed again as JSON lines that docs upload reads", async () => {
	const { sync, run, path, contents, service, write, root } = await synced(
		{ "a.txt": "a", "b.txt": "theirs" },
		{ flavour: "ragflow-0.21" },
	);
	await run(["docs", "upload", join(root, "b.txt"), "-d", service.dataset]);
	await write("b.txt", "of another size");
	const failed = path(runOf((await sync()).stdout), "failed.jsonl");
	const text = await readFile(failed, "utf8");
	expect(parseLines(text)).toMatchObject([{ file: join(root, "b.txt"), name: "b.txt", _error_code: "FOREIGN" }]);
	await rm(failed);
	expect([(await run(["runs", "report"])).exit, await readFile(failed, "utf8")]).toEqual([0, text]);
	expect((await run(["docs", "upload", failed, "--on-existing", "replace"])).exit).toBe(0);
	expect(await contents()).toEqual([
		["a.txt", "a"],
		["b.txt", "of another size"],
	]);
});

it("takes its options from a file: the dataset, the filters and the values", async () => {
	const { run, held, home, root, service } = await synced(PAPERS);
	const config = join(home, "sync.yaml");
	await writeFile(config, `dataset: ${service.dataset}\nexclude: hr\nset: {by: file}\nnames: flat\n`);
	await says(run(["docs", "sync", root, "--config", config]), 0, "dataset, names, exclude, set");
	expect((await held()).map(({ name, metadata }) => [name, metadata])).toEqual([
		["it__a.txt", { by: "file" }],
		["top.md", { by: "file" }],
	]);
});

it("a folder that is a file, or is not there, is exit 2; one without files is exit 3", async () => {
	const { run, service, root, home } = await synced({});
	const of = (folder: string) => run(["docs", "sync", folder, "-d", service.dataset]);
	await writeFile(join(home, "file"), "");
	expect([(await of(join(home, "file"))).exit, (await of(join(home, "absent"))).exit, (await of(root)).exit]).toEqual([
		2, 2, 3,
	]);
});

it("--parse starts the parsing of what it stores", async () => {
	const { sync, service } = await synced(PAPERS);
	expect(await sync("--parse", "--wait")).toMatchObject({ exit: 0, summary: { uploaded: 4 } });
	expect(service.requests.some((line) => line.startsWith("POST") && line.includes("/chunks"))).toBe(true);
});
