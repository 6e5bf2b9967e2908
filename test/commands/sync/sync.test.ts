import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { contentOf } from "../../support/content.ts";
import { PAPERS, synced } from "../../support/synced.ts";

it("writes the keys that files give, and leaves the others of a document as they are", async () => {
	const { sync, held, service, ids, write } = await synced({ "hr/a.md": "---\ntitle: A\n---\ntext", "b.txt": "b" });
	await write("b.txt.meta.json", '{"author":"Ann"}');
	const flags = ["--set", "folder={folder}"];
	expect(await sync(...flags)).toMatchObject({ exit: 0, summary: { uploaded: 2 } });
	for (const [name, id] of await ids()) if (name === "b.txt") await service.put(id, { author: "Ann", by_hand: "kept" });
	await write("b.txt.meta.json", '{"author":"Bob"}');
	expect(await sync(...flags)).toMatchObject({ exit: 0, summary: { rows: 1, updated: 1 } });
	expect((await held()).map(({ name, metadata }) => [name, metadata])).toEqual([
		["b.txt", { author: "Bob", by_hand: "kept" }],
		["hr/a.md", { title: "A", folder: "hr" }],
	]);
});

describe("documents whose files are gone", () => {
	const MANY = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${100 + n}.txt`, `text ${n}`]));

	it("are not removed where they are more than a tenth: exit 9, and nothing is sent", async () => {
		const { sync, contents, remove, write, writes } = await synced(MANY);
		await sync();
		for (let n = 100; n < 107; n++) await remove(`${n}.txt`);
		await says(sync(), 0, "7 would be removed with --remove");
		await write("new.txt", "new");
		const before = writes();
		await says(sync("--remove"), 9, "--max-remove 7");
		expect(writes() - before).toEqual(0);
		expect(await sync("--remove", "--max-remove", "7")).toMatchObject({
			exit: 0,
			summary: { removed: 7, uploaded: 1 },
		});
		expect((await contents()).length).toBe(54);
	});

	it("stay where another row fails: its file may be what replaces them", async () => {
		const { sync, contents, remove, write, root } = await synced(PAPERS);
		await sync();
		await remove("hr/a.txt");
		await write("bad.txt", "bad");
		await write("bad.txt.meta.json", "{");
		const ended = await sync("--remove");
		expect(ended).toMatchObject({ exit: 1, summary: { rows: 1, failed: 1, removed: 0 } });
		expect(ended.stderr).toContain("1 are not removed");
		expect(ended.stderr).toMatch(new RegExp(`^${root}: [A-Z_]+: `, "m"));
		expect((await contents()).length).toBe(4);
	});

	it("stay where it can't be found out whether their files are gone", async () => {
		const { sync, contents, remove, root } = await synced(PAPERS);
		await sync();
		await remove("hr");
		await symlink("hr", join(root, "hr"));
		expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { rows: 0 } });
		expect((await contents()).length).toBe(4);
	});

	it("stay where only the filters leave their files out, unless --delete-excluded is given", async () => {
		const { sync, contents } = await synced(PAPERS);
		await sync();
		const flags = ["--exclude", "it", "--remove"];
		expect(await sync(...flags)).toMatchObject({ exit: 0, summary: { rows: 0 } });
		expect(await sync(...flags, "--delete-excluded")).toMatchObject({ exit: 0, summary: { removed: 1 } });
		expect((await contents()).map(([name]) => name)).toEqual(["hr/a.txt", "hr/b.txt", "top.md"]);
	});
});

describe("documents of others", () => {
	it("are neither replaced nor removed: a namesake is a failed row FOREIGN", async () => {
		const { sync, ids, service, write, run, root } = await synced({ "a.txt": "ours" }, { documents: 5 });
		await sync();
		await write("b.txt", "theirs");
		await run(["docs", "upload", join(root, "b.txt"), "-d", service.dataset]);
		await write("b.txt", "ours, longer");
		const ended = await sync("--remove");
		expect(ended).toMatchObject({ exit: 1, summary: { rows: 1, failed: 1 } });
		expect(ended.stdout).toContain('"error_code":"FOREIGN"');
		const all = await ids();
		expect([all.size, await contentOf(service, all.get("b.txt") ?? "")]).toEqual([7, "theirs"]);
	});

	it("are taken over with --adopt where they are equal; a lost state is refused without it", async () => {
		const { sync, contents, write, touch, state } = await synced(PAPERS);
		await sync();
		const folder = join(state, "sync");
		const [name = ""] = await readdir(folder);
		await writeFile(join(folder, name), (await readFile(join(folder, name), "utf8")).slice(0, 300));
		await says(sync(), 8, "4 with the name and size of a file here");
		await touch("hr/a.txt");
		expect(await sync("--adopt", "--checksum")).toMatchObject({ exit: 0, summary: { rows: 4, unchanged: 4 } });
		await write("hr/a.txt", "another text");
		expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 1, replaced: 1 } });
		expect((await contents()).length).toBe(4);
	});
});

it("uploads again what someone removed on the server", async () => {
	const { sync, contents, ids, run, service } = await synced(PAPERS);
	await sync();
	const [id = ""] = (await ids()).values();
	await run(["docs", "rm", "--id", id, "-d", service.dataset, "--yes"]);
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 1, uploaded: 1 } });
	expect(await contents()).toEqual(Object.entries(PAPERS));
});

it("refuses the state of another folder: exit 8, and nothing is sent", async () => {
	const one = await synced(PAPERS);
	const state = join(one.home, "state.jsonl");
	expect((await one.sync("--state", state)).exit).toBe(0);
	const argv = ["docs", "sync", one.home, "-d", one.service.dataset, "--state", state];
	const before = one.writes();
	expect([(await one.run(argv)).exit, one.writes() - before]).toEqual([8, 0]);
	await writeFile(state, '{"ragtag_sync":2}\n');
	await says(one.sync("--state", state, "--adopt"), 8, "is of format 2");
	expect(await readFile(state, "utf8")).toBe('{"ragtag_sync":2}\n');
});

it("writes the steps into a plan, and docs apply sends exactly these, unless another sync came between", async () => {
	const { sync, contents, run, home, write } = await synced(PAPERS);
	const plan = join(home, "plan.jsonl");
	expect(await sync("--out", plan, "--detailed-exitcode")).toMatchObject({ exit: 10, summary: { changes: 4 } });
	expect(await contents()).toEqual([]);
	const applied = await run(["docs", "apply", plan, "--json"]);
	expect([applied.exit, await contents()]).toEqual([0, Object.entries(PAPERS)]);
	expect(await sync()).toMatchObject({ exit: 0, summary: { rows: 0 } });
	await write("new.txt", "new");
	await sync("--out", `${plan}2`);
	expect((await sync()).exit).toBe(0);
	await says(run(["docs", "apply", `${plan}2`]), 8, "another sync of this folder has run");
});

it("shows its steps in a dry run, and sends nothing", async () => {
	const { sync, writes, write, move, remove } = await synced(PAPERS);
	await sync();
	const before = writes();
	await write("hr/a.txt", "changed");
	await move("hr/b.txt", "c.txt");
	await remove("top.md");
	const { exit, stdout } = await sync("--dry-run", "--remove");
	expect([exit, writes() - before]).toEqual([0, 0]);
	expect(stdout.match(/"action":"\w+"/g)).toEqual(['"action":"replace"', '"action":"rename"', '"action":"remove"']);
	expect(stdout).toContain('"name":"c.txt","from":"hr/b.txt"');
});

it("fails the row of a file that changed after the plan was made, and sends nothing of it", async () => {
	const { sync, run, home, write, contents } = await synced({ "a.txt": "one", "b.txt": "two" });
	const plan = join(home, "plan.jsonl");
	await sync("--out", plan);
	await write("a.txt", "one, changed");
	const { exit, stdout } = await run(["docs", "apply", plan, "--json"]);
	expect([exit, stdout]).toEqual([1, expect.stringContaining('"error_code":"CHANGED_MEANWHILE"')]);
	expect(await contents()).toEqual([["b.txt", "two"]]);
});

describe.each(["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"] as const)("the undo of a sync at %s", (flavour) => {
	it("brings content, names and metadata back, with --trash what was removed and replaced, too", async () => {
		const { sync, held, ids, service, run, write, move, remove } = await synced(PAPERS, { flavour });
		await sync();
		for (const [name, id] of await ids()) await service.put(id, { of: name });
		const before = await held();
		await write("hr/a.txt", "quite another text");
		await write("hr/a.txt.meta.json", '{"added":"by the sync"}');
		await move("hr/b.txt", "moved.txt");
		await remove("top.md");
		await write("new.txt", "new");
		await write("it/a.txt.meta.json", '{"of":"the sync"}');
		const done = await sync("--remove", "--trash");
		expect(done).toMatchObject({ exit: 0, summary: { replaced: 1, renamed: 1, uploaded: 1, removed: 1, updated: 1 } });
		expect(await held()).not.toEqual(before);
		await says(run(["runs", "undo", "--yes", "--json", "--rate", "5000"]), 0, "5 reversed");
		expect(await held()).toEqual(before);
		// The state knows what is there: the same sync does all of it again.
		expect(await sync("--remove", "--max-remove", "5")).toMatchObject({
			exit: 0,
			summary: { replaced: 1, renamed: 1, uploaded: 1, removed: 1, updated: 1, failed: 0 },
		});
	});
});

it("the undo of a sync leaves a replaced document alone that someone changed since, and says so", async () => {
	const { sync, held, ids, service, run, write } = await synced({ "a.txt": "one" });
	await sync();
	for (const id of (await ids()).values()) await service.put(id, { by: "hand" });
	await write("a.txt", "one and two");
	await sync("--trash");
	for (const id of (await ids()).values()) await service.put(id, { by: "another hand" });
	const undone = await run(["runs", "undo", "--yes", "--json"]);
	expect([undone.exit, undone.stdout]).toEqual([1, expect.stringContaining('"error_code":"CONFLICT"')]);
	expect(await held()).toEqual([{ name: "a.txt", metadata: { by: "another hand" }, content: "one and two" }]);
});

it("says without --trash what can't be brought back", async () => {
	const { sync, run, write, contents } = await synced({ "a.txt": "one" });
	await sync();
	await write("a.txt", "one and two");
	expect((await sync("--dry-run")).stderr).toContain("1 document that is removed or replaced can't be brought back");
	await sync();
	const undone = await run(["runs", "undo", "--yes", "--json"]);
	expect(undone.stderr).toContain("1 can't be undone");
	expect(await contents()).toEqual([["a.txt", "one and two"]]);
});

it("where a service documents no rename, uploads a moved file again, and refuses to replace before anything is sent", async () => {
	const { sync, service, write, move, writes } = await synced(PAPERS, { flavour: "documented" });
	const flat = ["--names", "flat", "--remove"];
	await sync(...flat);
	await move("hr/b.txt", "new/c.txt");
	expect(await sync(...flat)).toMatchObject({ exit: 0, summary: { uploaded: 1, removed: 1, renamed: 0 } });
	await write("hr/a.txt", "another text");
	const before = writes();
	await says(sync(...flat), 2, "documents no such call");
	expect(writes() - before).toBe(0);
	const names = (await service.documents()).map(({ name }) => name).toSorted();
	expect(names).toEqual(["hr__a.txt", "it__a.txt", "new__c.txt", "top.md"]);
});
