import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { folder } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

/** A service that holds so many files, and a manifest that gives them a key. The first file is longer by now. */
async function changed(count: number, flavour: Flavour = "documented") {
	const world = await recorded(0, { flavour });
	const home = await folder();
	const names = Array.from({ length: count }, (_, at) => `f${at}.txt`);
	for (const name of names) await writeFile(join(home, name), "twelve bytes");
	const manifest = join(home, "files.csv");
	await writeFile(manifest, `file,team\n${names.map((name) => `${name},new\n`).join("")}`);
	const files = names.map((name) => join(home, name));
	const first = await world.run(["docs", "upload", ...files, "-d", world.service.dataset, "--set", "team=old"]);
	expect(first.exit).toBe(0);
	await writeFile(join(home, "f0.txt"), "x".repeat(37));
	const argv = ["docs", "upload", manifest, "-d", world.service.dataset, "--json", "--on-existing"];
	return { ...world, argv, shorten: () => writeFile(join(home, "f0.txt"), "other twelve") };
}

/** The teams of the documents by their names. */
async function teams(service: Awaited<ReturnType<typeof changed>>["service"]): Promise<Map<string, unknown>> {
	return new Map((await service.documents()).map(({ name, metadata }) => [name, at(metadata, "team")]));
}

// With one file its name is asked for, with twelve the dataset is listed.
describe.each<[Flavour, number]>([
	["documented", 1],
	["documented", 12],
	["ragflow-0.18", 12],
	["ragflow-0.27", 12],
	["ragflow-1.0", 12],
])("a file that changed since it was uploaded to %s, one of %i", (flavour, count) => {
	it.each([
		["skip", "old"],
		["update-metadata", "new"],
	])("fails its row with --on-existing %s: the dataset would keep the old content", async (what, team) => {
		const { run, service, argv } = await changed(count, flavour);
		const { exit, stdout, stderr } = await run([...argv, what]);
		expect(exit).toBe(1);
		expect(stderr).toContain("STALE_FILE: the dataset has f0.txt, document ");
		expect(stderr).toContain(
			", with 12 bytes, and the file has 37 bytes; nothing of this row was sent (--on-existing replace",
		);
		const rows = parseLines(stdout).filter((line) => at(line, "type") === "row" && at(line, "status") === "failed");
		expect(rows).toMatchObject([{ line: 2, error_code: "STALE_FILE" }]);
		const others = what === "skip" ? { unchanged: count - 1 } : { updated: count - 1 };
		expect(summaryOf(stdout)).toMatchObject({ failed: 1, ...others });
		const held = await teams(service);
		expect(held.get("f0.txt")).toBe("old");
		if (count > 1) expect(held.get("f1.txt")).toBe(team);
	});
});

it("a dry run shows it, and sends nothing that writes", async () => {
	const { run, argv, writes } = await changed(2);
	const before = writes();
	const { exit, stderr } = await run([...argv, "skip", "--dry-run"]);
	expect([exit, stderr, writes()]).toEqual([1, expect.stringContaining("STALE_FILE"), before]);
});

it("a retry fails it again, and writes it once the file is the document's", async () => {
	const { run, service, argv, shorten } = await changed(2);
	const name = runOf((await run([...argv, "update-metadata"])).stdout);
	const retry = ["runs", "retry", name];
	await says(run(retry), 1, "STALE_FILE");
	await shorten();
	expect((await run(retry)).exit).toBe(0);
	expect((await teams(service)).get("f0.txt")).toBe("new");
});

it("upload-again, which the message names, stores it beside the document", async () => {
	const { run, service, argv } = await changed(1);
	expect((await run([...argv, "upload-again"])).exit).toBe(0);
	expect(await service.documents()).toHaveLength(2);
});

it("ten changed files at the beginning do not end the run as a refusal of the service", async () => {
	const { run, argv, service } = await changed(12);
	const home = join(String(argv[2]), "..");
	for (let n = 0; n < 11; n += 1) await writeFile(join(home, `f${n}.txt`), "changed");
	await ends(run([...argv, "update-metadata", "--concurrency", "1"]), 1, { failed: 11, updated: 1, pending: 0 });
	expect((await teams(service)).get("f11.txt")).toBe("new");
});
