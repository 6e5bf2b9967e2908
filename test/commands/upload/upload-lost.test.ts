import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { impatient } from "../../support/clock.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { file } from "../../support/service.ts";
import { range } from "../../support/values.ts";

/** The first upload is stored so many milliseconds after it came, when its client has gone. */
const late = (milliseconds: number) =>
	recorded(0, {
		flavour: "ragflow-0.26",
		faults: { faults: [{ fault: "late", milliseconds, on: { method: "POST", path: "documents", nth: 1 } }] },
	});

const names = async (world: Awaited<ReturnType<typeof recorded>>): Promise<string[]> =>
	(await world.service.documents()).map(({ name }) => name);

it("an upload that the service stores after its timeout is found, and not stored twice", async () => {
	const world = await late(700);
	const big = await file("big.txt", "big");
	const argv = ["docs", "upload", big, "-d", world.service.dataset, "--set", "a=1", "--timeout", "250ms", "--json"];
	const { stderr } = await ends(world.run(argv), 0, { uploaded: 1, failed: 0, attempts: 1 });
	expect(stderr).toContain("searched for");
	expect(await world.service.documents()).toMatchObject([{ name: "big.txt", metadata: { a: "1" } }]);
});

it("an upload that is stored later still fails its row, and the suggested command waits, searches and counts it", async () => {
	const world = await late(1_500);
	const big = await file("big.txt", "big");
	const argv = ["docs", "upload", big, "-d", world.service.dataset, "--set", "a=1", "--timeout", "250ms", "--json"];
	const { stdout, stderr } = await ends(world.run(argv, { clock: impatient }), 1, { uploaded: 0, failed: 1 });
	expect(stdout).toContain("UNKNOWN_OUTCOME");
	const last = stderr.trim().split("\n").at(-1) ?? "";
	expect(last).toContain("may be stored");
	expect(last).toMatch(/runs retry \S+ waits and checks again before it sends/);
	expect(await names(world)).toEqual([]);

	await ends(world.run(["runs", "retry", runOf(stdout), "--timeout", "250ms", "--json"]), 0, {
		uploaded: 1,
		failed: 0,
	});
	expect(await world.service.documents()).toMatchObject([{ name: "big.txt", metadata: { a: "1" } }]);
});

it("a run whose rows were all stored under another name prints their ids and names, and how to undo it", async () => {
	const world = await recorded(0, {
		flavour: "ragflow-0.26",
		// The name is taken between the look and the upload: the list that the second run asks for it does not show it. The one
		// before shows the types of keys.
		faults: { faults: [{ fault: "list-omit", item: 1, on: { method: "GET", path: "documents$", nth: 5 } }] },
	});
	const path = await file("a.txt", "text");
	const argv = ["docs", "upload", path, "-d", world.service.dataset];
	expect((await world.run(argv)).exit).toBe(0);
	// An undo must know that searches work.
	await world.service.put((await world.service.ids())[0] ?? "", { by: "hand" });
	const { exit, stdout, stderr } = await world.run([...argv, "--set", "a=1"]);
	expect(exit).toBe(1);
	expect(stdout).toMatch(/\n[0-9a-f]{32},\S+,a\(1\)\.txt,/);
	const undo = /Undo it with: ragtag (runs undo \S+)/.exec(stderr)?.[1] ?? "";
	expect((await world.run([...undo.split(" "), "--yes"])).exit).toBe(0);
	expect(await names(world)).toEqual(["a.txt"]);
});

it("a copy that was stored under a number, and whose answer was lost, is found and not stored again by a retry", async () => {
	const lost = { fault: "reset", when: "after", on: { method: "POST", nth: [3] } } as const;
	const world = await recorded(0, { flavour: "ragflow-0.24", faults: { faults: [lost] } });
	const path = await file("a.txt", "text");
	const upload = ["docs", "upload", path, "-d", world.service.dataset, "--set", "v=1", "--on-existing", "upload-again"];
	for (const copy of [1, 2]) expect((await world.run(upload)).exit, `copy ${copy}`).toBe(0);
	const third = await ends(world.run([...upload, "--timeout", "1s", "--json"]), 0, { uploaded: 1, failed: 0 });
	expect((await names(world)).toSorted()).toEqual(["a(1).txt", "a(2).txt", "a.txt"]);
	expect((await world.service.documents()).map(({ metadata }) => metadata)).toEqual(range(3).map(() => ({ v: "1" })));
	expect((await world.run(["runs", "undo", runOf(third.stdout), "--yes"])).exit).toBe(0);
	expect((await names(world)).toSorted()).toEqual(["a(1).txt", "a.txt"]);
});
