import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killedWhen, program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { summaryOf } from "../support/values.ts";

it("300 values in 5,000 documents change, a kill in the middle is accounted for, and an undo restores all of it", async () => {
	const service = await serve(5_000, { latency: 2 });
	const home = await folder();
	const env = { ...envOf(service), HOME: home, XDG_STATE_HOME: join(home, "state") };
	const rates = ["--rate", "2000", "-q"];
	// 300 different values, four documents each; the others have one that no map changes.
	const ids = await service.ids();
	const rows = ids.map((id, at) => `${id},${at < 1_200 ? `wrong ${at % 300}` : "right"},${at}`);
	const tags = join(home, "tags.csv");
	await writeFile(tags, `document_id,unit,n:number\n${rows.join("\n")}\n`);
	expect((await program(["docs", "tag", tags, "-d", service.dataset, ...rates], env)).exit).toBe(0);
	const before = await service.documents();

	const map = join(home, "map.csv");
	const values = ["values", "unit", "-d", service.dataset];
	expect((await program([...values, "--out", map, "-q"], env)).exit).toBe(0);
	const listed = (await readFile(map, "utf8")).trimEnd().split("\n");
	expect(listed).toHaveLength(302);
	await writeFile(map, listed.map((line) => line.replace(/^(wrong)( \d+),/, "$1$2,right$2")).join("\n"));

	const from = service.requests.length;
	const writes = (): number => service.requests.slice(from).filter((line) => line.startsWith("PUT")).length;
	await killedWhen(start([...values, "--map", map, "--json", ...rates], env), () => writes() >= 500);
	const resumed = await program(["runs", "resume", "--json", ...rates], env);
	expect([resumed.exit, summaryOf(resumed.stdout)]).toEqual([
		0,
		expect.objectContaining({ rows: 1_200, updated: 1_200, failed: 0, pending: 0 }),
	]);
	const after = new Map((await service.documents()).map((each) => [each.id, each.metadata]));
	expect(ids.map((id) => after.get(id))).toEqual(
		ids.map((_, at) => ({ unit: at < 1_200 ? `right ${at % 300}` : "right", n: at })),
	);
	// No document was written twice, but for those whose answers the kill cut off.
	const concurrent = 200;
	expect(writes()).toBeLessThan(1_200 + concurrent);
	expect((await program(["runs", "verify", ...rates], env)).exit).toBe(0);
	expect((await program(["runs", "undo", "--yes", ...rates], env)).exit).toBe(0);
	expect(await service.documents()).toEqual(before);
});
