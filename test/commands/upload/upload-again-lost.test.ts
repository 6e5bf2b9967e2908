import { expect, it } from "vitest";
import { at, summaryOf } from "../../support/values.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { file } from "../../support/service.ts";

it("a copy that was stored under a number, and whose answer was lost, is found and not stored again by a retry", async () => {
	const lost = { fault: "reset", when: "after", on: { method: "POST", nth: [3] } } as const;
	const world = await recorded(0, { flavour: "ragflow-0.24", faults: { faults: [lost] } });
	const path = await file("a.txt", "text");
	const upload = ["docs", "upload", path, "-d", world.service.dataset, "--set", "v=1", "--on-existing", "upload-again"];
	for (const copy of [1, 2]) expect((await world.run(upload)).exit, `copy ${copy}`).toBe(0);
	const third = await world.run([...upload, "--timeout", "1s", "--json"]);
	expect([third.exit, summaryOf(third.stdout)]).toEqual([0, expect.objectContaining({ uploaded: 1, failed: 0 })]);
	const names = (await world.service.documents()).map((document) => String(at(document, "name")));
	expect(names.toSorted()).toEqual(["a(1).txt", "a(2).txt", "a.txt"]);
	const metadata = (await world.service.documents()).map((document) => document.metadata);
	expect(metadata).toEqual([{ v: "1" }, { v: "1" }, { v: "1" }]);
	expect((await world.run(["runs", "undo", runOf(third.stdout), "--yes"])).exit).toBe(0);
	const left = (await world.service.documents()).map((document) => String(at(document, "name")));
	expect(left.toSorted()).toEqual(["a(1).txt", "a.txt"]);
});
