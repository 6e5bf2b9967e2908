import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { change, held } from "../../support/content.ts";
import { recorded, type RecordedOptions, runOf } from "../../support/recorded.ts";
import { folder, KEY, type Service } from "../../support/service.ts";
import { at, items, parse, parseLines } from "../../support/values.ts";

const FLAVOURS: readonly Flavour[] = ["ragflow-0.21", "ragflow-0.24", "ragflow-0.27", "ragflow-1.0"];

/** A service with a document of each file, to which people have added keys; the first file has another content by now. */
async function changed(flavour: Flavour, names: readonly string[] = ["a.txt", "b.txt"], options: RecordedOptions = {}) {
	const world = await recorded(0, { ...options, flavour });
	const { service, run } = world;
	const home = await folder();
	const files = names.map((name) => join(home, name));
	for (const file of files) await writeFile(file, `old text of ${file.slice(home.length + 1)}`);
	const upload = ["docs", "upload", ...files, "-d", service.dataset];
	const first = await run([...upload, "--set", "team=old", "--set", "year:number=2024"]);
	expect(first.exit).toBe(0);
	for (const { id } of await service.documents()) {
		await service.put(id, {
			team: "old",
			year: 2024,
			by_hand: "kept",
			...(flavour === "ragflow-0.18" ? {} : { many: ["x", "y"] }),
		});
	}
	await writeFile(join(home, "a.txt"), "quite another text");
	// Documents of one millisecond are listed in any order.
	const before = (await service.documents()).toSorted((one, other) => one.name.localeCompare(other.name));
	const argv = [...upload, "--on-existing", "replace", "--set", "team=new", "--rate", "5000"];
	return { ...world, home, files, argv, before };
}

const KEPT = { team: "new", year: 2024, by_hand: "kept", many: ["x", "y"] };

describe.each(FLAVOURS)("docs upload --on-existing replace at %s", (flavour) => {
	it("gives a changed file's document the new content, keeps every key and the name, and leaves one document", async () => {
		const { run, service, argv, before } = await changed(flavour);
		const { exit, stdout, stderr } = await run(argv);
		expect([exit, stderr]).toEqual([0, stderr]);
		expect(await held(service)).toEqual([
			{ name: "a.txt", metadata: KEPT, content: "quite another text" },
			{ name: "b.txt", metadata: KEPT, content: "old text of b.txt" },
		]);
		const [old = "", unchanged] = before.map(({ id }) => id);
		const after = (await service.documents()).map(({ id }) => id);
		expect(after).toContain(unchanged);
		expect(after).not.toContain(old);
		const replacement = after.find((id) => id !== unchanged) ?? "";
		expect(stderr).toContain(`a.txt: ${old} → ${replacement}`);
		expect(stdout).toContain(`${replacement},${service.dataset},a.txt,`);
		expect(stderr).toContain("1 replaced");
		expect(stderr).toContain("until it is parsed");
	});

	it("writes nothing the second time", async () => {
		const { run, argv, writes } = await changed(flavour);
		expect((await run(argv)).exit).toBe(0);
		const before = writes();
		await ends(run([...argv, "--json"]), 0, { unchanged: 2, replaced: 0, updated: 0 });
		expect(writes()).toBe(before);
	});

	it("takes a content of equal size with --checksum alone", async () => {
		const { run, service, argv, home } = await changed(flavour);
		await writeFile(join(home, "a.txt"), "OLD text of a.txt");
		await ends(run([...argv, "--json"]), 0, { updated: 2, replaced: 0 });
		await ends(run([...argv, "--checksum", "--json"]), 0, { unchanged: 1, replaced: 1 });
		expect((await held(service))[0]).toEqual({ name: "a.txt", metadata: KEPT, content: "OLD text of a.txt" });
	});

	it("shows in a dry run what would be replaced, and writes nothing", async () => {
		const { run, argv, writes, before } = await changed(flavour);
		const writesBefore = writes();
		const { exit, stdout } = await run([...argv, "--dry-run", "--json"]);
		expect(exit).toBe(0);
		const changes = parseLines(stdout).filter((line) => at(line, "type") === "change");
		expect(changes).toMatchObject([
			{ action: "replace", document_id: before[0]?.id, change: { team: { from: "old", to: "new" } }, remove: {} },
			{ action: "update" },
		]);
		expect((await run([...argv, "--dry-run"])).stdout).toContain("only after parsing");
		expect(writes()).toBe(writesBefore);
	});
});

it("is refused where the service documents no rename and no download: nothing is sent", async () => {
	const { run, service, argv, writes } = await changed("documented");
	const before = writes();
	await says(run(argv), 2, "--on-existing replace: this service documents no such call");
	expect([writes(), (await service.documents()).length]).toEqual([before, 2]);
});

it("can't be undone, and undo leaves the new document there: the old one is gone", async () => {
	const { run, service, argv } = await changed("ragflow-0.27");
	const name = runOf((await run([...argv, "--json"])).stdout);
	await says(run(["runs", "undo", name, "--yes"]), 1, "1 can't be undone");
	expect((await held(service)).map(({ name, content }) => [name, content])).toEqual([
		["a.txt", "quite another text"],
		["b.txt", "old text of b.txt"],
	]);
});

it("verifies the new document, which --verify reads back", async () => {
	const { run, argv } = await changed("ragflow-0.27");
	const { exit, stderr } = await run([...argv, "--verify", "all"]);
	expect([exit, stderr]).toEqual([0, stderr]);
	expect(stderr).toMatch(/2 (?:rows|documents)?.*equal|verified/i);
});

it("leaves a document to a newer run that has written it", async () => {
	const { run, service, argv, before } = await changed("ragflow-0.27", ["a.txt"], {
		faults: { faults: [{ fault: "code", code: 109, when: "before", on: { method: "DELETE" } }] },
	});
	const killed = await run([...argv, "--json"]);
	expect(killed.exit).toBe(4);
	const manifest = join(await folder(), "tags.csv");
	await writeFile(manifest, `document_id,team\n${before[0]?.id},newer\n`);
	expect((await run(["docs", "tag", manifest, "-d", service.dataset, "--mode", "merge"])).exit).toBe(0);
	await says(run(["runs", "resume", runOf(killed.stdout)]), 1, "SUPERSEDED");
	// Both are there: the old one may have what the newer run wrote, and only a person can say which is wanted.
	expect((await held(service)).find(({ name }) => name === "a.txt")).toEqual({
		name: "a.txt",
		metadata: { ...KEPT, team: "newer" },
		content: "old text of a.txt",
	});
});

describe.each<Flavour>(["ragflow-0.21", "ragflow-0.24", "ragflow-0.27", "ragflow-1.0"])("at %s", (flavour) => {
	it("a disabled document stays hidden, and its chunk method goes along", async () => {
		const { run, service, argv, before } = await changed(flavour, ["a.txt"]);
		const verb = flavour === "ragflow-0.21" || flavour === "ragflow-0.24" ? "PUT" : "PATCH";
		const old = before[0]?.id ?? "";
		await change(service, verb, old, { chunk_method: "qa" });
		await change(service, verb, old, { enabled: false });
		await says(run(argv), 0, "disabled as well");
		const [document, ...others] = await service.documents();
		expect([document?.name, others]).toEqual(["a.txt", []]);
		expect(document?.id).not.toBe(old);
		expect(await stateOf(service, document?.id ?? "")).toEqual({ status: "0", method: "qa" });
	});
});

it("a document whose place the new one can't take as hidden as it was is left there", async () => {
	// v0.18 has no such member: it answers success, and the new document would be found.
	const { run, service, argv, before } = await changed("ragflow-0.18", ["a.txt"]);
	service.become("ragflow-0.21");
	await change(service, "PUT", before[0]?.id ?? "", { enabled: false });
	service.become("ragflow-0.18");
	await says(run(argv), 1, "NOT_KEPT");
	expect((await service.documents()).map(({ id }) => id)).toContain(before[0]?.id);
});

it.each<Flavour>(["ragflow-0.27", "ragflow-1.0"])(
	"a new document of %s whose answer was lost is found under its number, and the file is stored once",
	async (flavour) => {
		const { run, service, argv } = await changed(flavour, ["a.txt"], { faults: { faults: [lost(3)] } });
		const { exit, stderr } = await run(argv);
		expect([exit, stderr]).toEqual([0, stderr]);
		expect(await held(service)).toEqual([{ name: "a.txt", metadata: KEPT, content: "quite another text" }]);
	},
);

it("the same for a name with folders, whose number has none", async () => {
	const world = await recorded(0, { flavour: "ragflow-0.27", faults: { faults: [lost(3)] } });
	const { run, service } = world;
	const home = await folder();
	await mkdir(join(home, "hr"));
	await writeFile(join(home, "hr", "a.txt"), "old text");
	const argv = ["docs", "upload", home, "-d", service.dataset, "--on-existing", "replace", "--set", "team=new"];
	expect((await run(argv)).exit).toBe(0);
	await writeFile(join(home, "hr", "a.txt"), "quite another text");
	const { exit, stderr } = await run(argv);
	expect([exit, stderr]).toEqual([0, stderr]);
	const content = "quite another text";
	expect(await held(service)).toEqual([{ name: "hr/a.txt", metadata: { team: "new" }, content }]);
});

/** The answer to that upload is lost; the dataset itself was made by a POST, too. */
function lost(nth: number) {
	return { fault: "reset", when: "after", on: { method: "POST", nth: [nth] } } as const;
}

async function stateOf({ url, dataset }: Service, id: string): Promise<object> {
	const response = await fetch(`${url}/api/v1/datasets/${dataset}/documents?id=${id}&asked-by=the-test`, {
		headers: { authorization: `Bearer ${KEY}`, connection: "close" },
	});
	const [document] = items(at(at(parse(await response.text()), "data"), "docs"));
	return { status: at(document, "status"), method: at(document, "chunk_method") ?? at(document, "parser_id") };
}
