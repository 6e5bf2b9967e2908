import { expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { folder } from "../../support/service.ts";
import { PAPERS, synced } from "../../support/synced.ts";

it("removes nothing of another machine's sync into the same dataset, and stores no file twice without FOREIGN", async () => {
	const { sync, ids, service, root, remove } = await synced(
		Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`old/${1000 + n}.txt`, `text ${n}`])),
	);
	const argv = ["docs", "sync", root, "-d", service.dataset, "--rate", "5000", "--json", "--remove"];
	const home = await folder();
	const other = () => ragtag(argv, { env: envOf(service), home });
	expect((await sync("--remove")).exit).toBe(0);
	const before = await ids();
	// The other machine has no state: it takes nothing over unasked.
	expect((await other()).exit).toBe(8);
	await remove("old/1003.txt");
	const left = await ragtag([...argv, "--no-adopt"], { env: envOf(service), home });
	expect(left.exit).toBe(1);
	expect(left.stdout.match(/"error_code":"FOREIGN"/g)?.length).toBe(29);
	expect(await ids()).toEqual(before);
});

it("follows a file that becomes a folder, and back: the document of the one that is gone is removed", async () => {
	const { sync, contents, remove, write } = await synced({ "a.txt": "file", "b.txt": "b" });
	await sync();
	await remove("a.txt");
	await write("a.txt/c.txt", "in a folder");
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { uploaded: 1, removed: 1 } });
	expect(await contents()).toEqual([
		["a.txt/c.txt", "in a folder"],
		["b.txt", "b"],
	]);
	await remove("a.txt");
	await write("a.txt", "file again");
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { uploaded: 1, removed: 1 } });
	expect(await contents()).toEqual([
		["a.txt", "file again"],
		["b.txt", "b"],
	]);
});

it("renames the document of a file whose name changes by case alone, and keeps it where only its composition changes", async () => {
	const { sync, ids, move } = await synced({ "b.txt": "b", "\u00e9.txt": "acute" });
	await sync();
	const before = [...(await ids()).values()].toSorted();
	await move("b.txt", "B.txt");
	await move("\u00e9.txt", "e\u0301.txt");
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { uploaded: 0, removed: 0, failed: 0 } });
	const after = await ids();
	expect([after.has("B.txt"), [...after.values()].toSorted()]).toEqual([true, before]);
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("gives documents their new names where --names changes between two syncs", async () => {
	const { sync, ids } = await synced(PAPERS);
	await sync();
	const before = [...(await ids()).values()].toSorted();
	expect(await sync("--names", "flat", "--remove")).toMatchObject({ exit: 0, summary: { renamed: 3, uploaded: 0 } });
	const after = await ids();
	expect([...after.keys()].toSorted()).toEqual(["hr__a.txt", "hr__b.txt", "it__a.txt", "top.md"]);
	expect([...after.values()].toSorted()).toEqual(before);
	expect(await sync("--names", "flat")).toMatchObject({ exit: 0, summary: { rows: 0 } });
});

it("says which documents keep their names where the service renames none", async () => {
	const { sync, ids } = await synced({ "hr/a.txt": "a", "top.md": "top" }, { flavour: "documented" });
	await sync();
	const next = await sync("--names", "flat");
	expect([next.exit, [...(await ids()).keys()].toSorted()]).toEqual([0, ["a.txt", "top.md"]]);
	expect(next.stderr).toContain("1 document keeps its name: this service renames none.");
});

it("verifies and undoes a sync of a tenant without any metadata, and leaves a document alone that a person has tagged", async () => {
	const { sync, run, contents, ids, service } = await synced(PAPERS, { flavour: "ragflow-0.25" });
	await sync();
	const verified = await run(["runs", "verify", "--json"]);
	expect([verified.exit, verified.stdout]).toEqual([0, expect.stringContaining('"equal":4')]);
	const [first = ""] = (await ids()).values();
	await service.put(first, { by: "hand" });
	const undone = await run(["runs", "undo", "--yes", "--json"]);
	expect([undone.exit, undone.stdout]).toEqual([1, expect.stringContaining('"error_code":"CONFLICT"')]);
	expect((await contents()).length).toBe(1);
	await service.put(first, {});
	expect((await run(["runs", "retry", "--json"])).exit).toBe(0);
	expect(await contents()).toEqual([]);
});
