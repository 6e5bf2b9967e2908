import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { commandFlavours } from "../../support/whole.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at } from "../../support/values.ts";

const fast = ["--rate", "5000", "--json"];
const manifest = (ids: readonly string[], value: (n: number) => unknown = () => ({})): Promise<string> =>
	file("tags.jsonl", ids.map((document_id, n) => JSON.stringify({ document_id, meta_fields: value(n) })).join("\n"));

describe("--only-changed", () => {
	it.each(commandFlavours)("writes nothing the second time, three rows the third: %s", async (flavour: Flavour) => {
		const service = await serve(250, { flavour });
		const ids = await service.ids();
		const value = (n: number) => ({ author: `Zoë ${n}`, year: n, tags: ["red; blue", `t${n}`] });
		const first = await manifest(ids, value);
		const argv = (path: string) => ["docs", "tag", path, "-d", service.dataset, "--only-changed", ...fast];
		await ends(ragtag(argv(first), { env: envOf(service) }), 0, { updated: 250, unchanged: 0, verified: true });

		const asked = service.requests.length;
		await ends(ragtag(argv(first), { env: envOf(service) }), 0, { updated: 0, unchanged: 250, changes: 0 });
		// Lists alone, several where equal times hide documents between pages: far fewer than a look at each row.
		const written = (line: string): boolean => !line.startsWith("GET") && line.includes(service.dataset);
		expect(service.requests.slice(asked).filter(written)).toEqual([]);
		expect(service.requests.length - asked).toBeLessThan(60);

		const third = await manifest(ids, (n) => (n < 3 ? { ...value(n), author: "new" } : value(n)));
		await ends(ragtag(argv(third), { env: envOf(service) }), 0, { updated: 3, unchanged: 247, changes: 3 });
		const held = await service.documents();
		expect(held.filter(({ metadata }) => at(metadata, "author") === "new")).toHaveLength(3);
	});

	it("reads the few rows of a large dataset one by one", async () => {
		const service = await serve(2_000);
		const ids = (await service.ids()).slice(0, 4);
		const path = await manifest(ids);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--only-changed", "--flavour", "documented", ...fast];
		await ends(ragtag(argv, { env: envOf(service) }), 0, { unchanged: 4 });
		expect(service.requests.filter((line) => line.startsWith("GET"))).toHaveLength(6);
	});

	it("compares the result of the merge, and leaves other keys alone", async () => {
		const service = await serve(3);
		const [one = "", two = "", three = ""] = await service.ids();
		await service.put(one, { a: "x", kept: 1, tags: ["p"] });
		await service.put(two, { a: "y", kept: 1, tags: ["p"] });
		await service.put(three, { a: "x", gone: 1, tags: ["p", "q"] });
		const rows = [one, two, three].map((id) => `${id},x,!delete,+p|-q\n`).join("");
		const path = await file("tags.csv", `document_id,a,gone,tags:list\n${rows}`);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--only-changed", "--mode", "merge", ...fast];
		await ends(ragtag(argv, { env: envOf(service) }), 0, { updated: 2, unchanged: 1 });
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual([
			{ a: "x", kept: 1, tags: ["p"] },
			{ a: "x", kept: 1, tags: ["p"] },
			{ a: "x", tags: ["p"] },
		]);
	});

	it("holds for a resumed run", async () => {
		const service = await serve(3);
		const ids = await service.ids();
		const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
		const path = await manifest(["absent", ...ids]);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--only-changed", "--max-errors", "1", ...fast];
		expect((await ragtag([...argv, "--concurrency", "1"], { env })).exit).toBe(9);
		await ends(ragtag(["runs", "resume", ...fast], { env }), 1, { rows: 4, unchanged: 3, failed: 1, updated: 0 });
	});

	it("leaves no metadata of documents in the state folder", async () => {
		const service = await serve(250);
		const state = await folder();
		const path = await manifest(await service.ids(), () => ({ a: 1 }));
		const argv = ["docs", "tag", path, "-d", service.dataset, "--only-changed", "--state-dir", state, ...fast];
		expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
		expect(await readdir(join(state, "tmp"))).toEqual([]);
	});
});
