import { expect, it, onTestFinished } from "vitest";
import stringWidth from "string-width";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";

const STARTED = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;

async function recorded() {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const world = { env: envOf(service), home: await folder(), terminal: true };
	const path = await file("a-rather-long-name-of-a-manifest.csv", `document_id,author\n${id},Ann\n`);
	expect((await ragtag(["docs", "tag", path, "-d", service.dataset], world)).exit).toBe(0);
	expect((await ragtag(["runs", "undo", "--yes"], world)).exit).toBe(0);
	return { world, id };
}

it.each([120, 100, 80, 64, 50, 40])("no line of runs list is wider than a terminal of %i columns", async (columns) => {
	const { world } = await recorded();
	const { stdout } = await ragtag(["runs", "list"], { ...world, columns });
	const lines = stdout.trimEnd().split("\n");
	expect(lines).toHaveLength(3);
	expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
	expect(lines[0]).toContain("state ");
	for (const line of lines) expect(line).not.toContain("2026-11…");
});

it("tables show times in the zone of this machine, and other formats show them with their zone", async () => {
	const zone = process.env["TZ"];
	onTestFinished(() => {
		if (zone === undefined) delete process.env["TZ"];
		else process.env["TZ"] = zone;
	});
	process.env["TZ"] = "Asia/Kathmandu";
	const { world, id } = await recorded();
	const shown = (await ragtag(["runs", "list", "--format", "table"], { ...world, columns: 200 })).stdout;
	const json = (await ragtag(["runs", "list", "--json"], world)).stdout;
	const started = /"started":"([^"]*Z)"/.exec(json)?.[1] ?? "";
	const minutes = new Date(Date.parse(started) + (5 * 60 + 45) * 60_000).toISOString().slice(0, 16).replace("T", " ");
	expect(minutes).toMatch(STARTED);
	expect(shown.split("\n")[1]).toContain(`  ${minutes}  `);
	const blame = (await ragtag(["runs", "blame", id, "--all"], { ...world, columns: 200 })).stdout;
	expect(blame).toContain(minutes);
	expect(blame).not.toMatch(/\d\dT\d\d:/);
});
