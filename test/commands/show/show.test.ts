import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { hurriedClock } from "../../support/clock.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve, type Service } from "../../support/service.ts";
import { at, parse, parseLines } from "../../support/values.ts";

const NAME = "document-0000001.txt";

/** A dataset in which two documents have one name, and the ids of these. */
async function namesakes(): Promise<{ service: Service; ids: readonly string[] }> {
	const service = await serve(2);
	const path = await file("same.txt", "text");
	const argv = ["docs", "upload", path, "-d", service.dataset, "--on-existing", "upload-again", "-q"];
	for (const _ of [1, 2]) await ragtag(argv, { env: envOf(service) });
	const same = (await service.documents()).filter(({ name }) => name === "same.txt");
	expect(same).toHaveLength(2);
	return { service, ids: same.map(({ id }) => id) };
}

describe("one document is shown", () => {
	it("by its id or its name, with each value and the run, manifest and line that set it", async () => {
		const world = await recorded(2);
		const { service } = world;
		const [id = ""] = await service.ids();
		const path = await file("tags.csv", `document_id,category,pages:number\n${id},Legal,4\n`);
		const tagged = await world.run(["docs", "tag", path, "-d", service.dataset, "--json"]);
		await service.put(id, { category: "Legal", pages: 5 });
		const [byId, byName] = [
			await world.run(["docs", "show", id, "-d", service.dataset, "--json"]),
			await world.run(["docs", "show", NAME, "-d", service.dataset, "--json"]),
		];
		expect([byId.exit, byId.stderr]).toEqual([0, ""]);
		expect(byName.stdout.replaceAll(/"time":"[^"]*"/g, "")).toBe(byId.stdout.replaceAll(/"time":"[^"]*"/g, ""));
		expect(parse(byId.stdout)).toEqual({
			dataset_id: service.dataset,
			document_id: id,
			name: NAME,
			size: 0,
			create_time: expect.any(Number),
			meta_fields: { category: "Legal", pages: 5 },
			parsing: null,
			set_by: {
				category: expect.objectContaining({ run: runOf(tagged.stdout), manifest: path, line: 2, certain: true }),
				// Another client set it after the run.
				pages: null,
			},
		});
		const terminal = await world.run(["docs", "show", NAME, "-d", service.dataset], { columns: 160, terminal: true });
		const lines = terminal.stdout.split("\n");
		expect(lines.slice(0, 4)).toEqual([
			`name       ${NAME}`,
			`document   ${id}`,
			`dataset    ${service.dataset}`,
			"size       0 B",
		]);
		expect(lines.find((line) => line.startsWith("category"))).toMatch(
			new RegExp(`Legal +${runOf(tagged.stdout)} +2 .*tags\\.csv.*certain`),
		);
		expect(lines.find((line) => line.startsWith("pages"))).toContain("not by a recorded run");
	});

	it("with the state of its parsing, where the service shows it, and the reason where it failed", async () => {
		const service = await serve(1, { flavour: "ragflow-0.25" });
		const { exit, stdout } = await ragtag(["docs", "show", NAME, "-d", service.dataset], { env: envOf(service) });
		expect([exit, stdout]).toEqual([0, expect.stringMatching(/^parsing {4}UNSTART, 0 chunks, method naive$/m)]);
		expect(stdout).toMatch(/^metadata {3}none$/m);
		const json = await ragtag(["docs", "show", NAME, "-d", service.dataset, "--json"], { env: envOf(service) });
		expect(at(parse(json.stdout), "parsing")).toEqual(expect.objectContaining({ run: "UNSTART", chunk_count: 0 }));
		const env = envOf(service);
		await ragtag(["docs", "upload", await file("parse-fails.txt", "text"), "-d", service.dataset], { env });
		await ragtag(["docs", "parse", "-d", service.dataset, "--wait"], { env, clock: hurriedClock() });
		const failed = await ragtag(["docs", "show", "parse-fails.txt", "-d", service.dataset], { env });
		expect(failed.stdout).toMatch(/^parsing {4}FAIL, .*\nreason {5}\S/m);
	});

	it("only where its name is unique: the ids of several are named, and one near is for an unknown name", async () => {
		const { service, ids } = await namesakes();
		const run = (name: string) => ragtag(["docs", "show", name, "-d", service.dataset], { env: envOf(service) });
		const two = await run("same.txt");
		expect([two.exit, two.stdout]).toEqual([2, ""]);
		for (const id of ids) expect(two.stderr).toContain(id);
		await says(run("nothing.txt"), 2, "has the id or the name nothing.txt");
	});
});

describe("a name in place of an id", () => {
	it("removes its document and no other, and nothing where several have it or none", async () => {
		const { service, ids } = await namesakes();
		const rm = (...argv: string[]) =>
			ragtag(["docs", "rm", "-d", service.dataset, "--yes", "--json", ...argv], { env: envOf(service) });
		const all = await service.ids();
		for (const name of ["same.txt", "none.txt", ""]) {
			const refused = await rm("--name", NAME, name);
			expect([refused.exit, service.requests.some((line) => line.startsWith("DELETE"))]).toEqual([2, false]);
			if (name === "same.txt") for (const id of ids) expect(refused.stderr).toContain(id);
		}
		await ends(rm("--name", NAME, "--id", ids[0] ?? ""), 0, { rows: 2, removed: 2 });
		expect(await service.ids()).toEqual(all.filter((id, n) => n !== 0 && id !== ids[0]));
		const manifest = await file("old.csv", "document_id\n");
		expect((await rm(manifest, "--name", NAME)).stderr).toContain("MANIFEST and --name exclude each other");
	});

	it("blames its document, and says that -d is missing where it may be a name", async () => {
		const world = await recorded(2);
		const [id = ""] = await world.service.ids();
		const path = await file("tags.csv", `document_id,a\n${id},1\n`);
		const tagged = await world.run(["docs", "tag", path, "-d", world.service.dataset, "--json"]);
		const named = await world.run(["runs", "blame", NAME, "-d", world.service.dataset, "--json"]);
		expect([named.exit, parseLines(named.stdout)]).toEqual([
			0,
			[expect.objectContaining({ document_id: id, key: "a", run: runOf(tagged.stdout) })],
		]);
		await says(world.run(["runs", "blame", NAME], { env: {} }), 1, "If that is its name, add -d DATASET.");
		const other = await world.run(["runs", "blame", "document-0000002.txt", "-d", world.service.dataset]);
		expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining("wrote document document-0000002.txt (")]);
	});
});

it("documents of --id are listed in that order, and one that is not there is named", async () => {
	const service = await serve(3);
	const [first = "", , third = ""] = await service.ids();
	const list = (...argv: string[]) =>
		ragtag(["docs", "list", "-d", service.dataset, "--json", "--id", ...argv], { env: envOf(service) });
	const found = await list(third, first, third);
	expect(parseLines(found.stdout).map((line) => at(line, "document_id"))).toEqual([third, first]);
	const missing = await list(first, "nobody");
	expect([missing.exit, missing.stdout, missing.stderr]).toEqual([2, "", expect.stringContaining("has the id nobody")]);
	expect((await list(first, "--name", "x")).stderr).toContain("--id and --name exclude each other");
});
