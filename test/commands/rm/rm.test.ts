import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

it("exactly the documents of a manifest are removed, and of --id", async () => {
	const service = await serve(4);
	const [first = "", second = "", third = "", fourth = ""] = await service.ids();
	const path = await file("old.csv", `document_id,title\n${second},anything\n`);
	const flags = ["-d", service.dataset, "--yes", "--json"];
	await ends(ragtag(["docs", "rm", path, ...flags], { env: envOf(service) }), 0, { rows: 1, removed: 1 });
	const two = await ragtag(["docs", "rm", "--id", first, fourth, ...flags], { env: envOf(service) });
	expect(summaryOf(two.stdout)).toMatchObject({ rows: 2, removed: 2, exit_code: 0 });
	expect(await service.ids()).toEqual([third]);
});

it.each<[string, boolean, string, number]>([
	["nobody can be asked", false, "", 0],
	// The question names the document, which takes one request that reads.
	["the answer is no", true, "no\n", 1],
	["the input ends", true, "", 1],
])("nothing is removed when %s", async (_what, terminal, stdin, reads) => {
	const service = await serve(1);
	const ids = await service.ids();
	const argv = ["docs", "rm", "--id", ...ids, "-d", service.dataset];
	const { exit } = await ragtag(argv, { env: envOf(service), terminal, stdin });
	expect(exit).toBe(2);
	expect(service.requests.map((request) => /^GET .*&id=/.test(request))).toEqual(Array(reads).fill(true));
	expect(await service.ids()).toEqual(ids);
});

it("a yes at the terminal removes", async () => {
	const service = await serve(1);
	const argv = ["docs", "rm", "--id", ...(await service.ids()), "-d", service.dataset];
	const { exit, stderr } = await ragtag(argv, { env: envOf(service), terminal: true, stdin: "yes\n" });
	expect([exit, stderr]).toEqual([0, expect.stringContaining(`Remove 1 document of dataset ${service.dataset}?\n  `)]);
	expect(await service.ids()).toEqual([]);
});

it.each([
	["documented", 209],
	["ragflow-0.21", 209],
	["ragflow-0.25", 209],
	["ragflow-0.26", 4],
	["ragflow-0.27", 4],
	["ragflow-1.0", 4],
] as const)("many documents are removed, and a few lists confirm them: %s, %d removals", async (flavour, removals) => {
	const service = await serve(210, { flavour });
	const [kept = "", ...removed] = await service.ids();
	const path = await file("old.csv", `document_id\n${removed.join("\n")}\n`);
	const argv = ["docs", "rm", path, "-d", service.dataset, "--yes", "--json", "--rate", "5000"];
	await ends(ragtag(argv, { env: envOf(service) }), 0, { rows: 209, removed: 209, attempts: 209 });
	expect(await service.ids()).toEqual([kept]);
	expect(service.requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(removals);
	expect(service.requests.filter((request) => request.startsWith("GET")).length).toBeLessThan(15);
});

it("one unknown id among a hundred fails alone, at a release that would then remove none of them", async () => {
	const service = await serve(120, { flavour: "ragflow-0.27" });
	const [kept = "", ...removed] = await service.ids();
	const absent = "e".repeat(32);
	const path = await file("old.csv", `document_id\n${removed.toSpliced(60, 0, absent).join("\n")}\n`);
	const { exit, stdout } = await ragtag(["docs", "rm", path, "-d", service.dataset, "--yes", "--json"], {
		env: envOf(service),
	});
	expect(exit).toBe(1);
	expect(summaryOf(stdout)).toMatchObject({ rows: 120, removed: 119, failed: 1 });
	expect(parseLines(stdout).filter((line) => at(line, "type") === "row")).toMatchObject([{ document_id: absent }]);
	expect(await service.ids()).toEqual([kept]);
});

it("a single removal is sent without asking for a faster way", async () => {
	const service = await serve(3, { flavour: "ragflow-0.27" });
	const [first = "", ...kept] = await service.ids();
	const argv = ["docs", "rm", "--id", first, "-d", service.dataset, "--yes", "--flavour", "ragflow-patch"];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	expect(await service.ids()).toEqual(kept);
	expect(service.requests.filter((request) => request.startsWith("PUT"))).toEqual([]);
});

it("an id that the dataset does not list is a failed row, and no removal is sent for it", async () => {
	const service = await serve(1);
	const absent = "e".repeat(32);
	const argv = ["docs", "rm", "--id", absent, "-d", service.dataset, "--yes", "--json"];
	const { stdout } = await ends(ragtag(argv, { env: envOf(service) }), 1, { rows: 1, failed: 1, removed: 0 });
	expect(parseLines(stdout).filter((line) => at(line, "type") === "row")).toMatchObject([{ document_id: absent }]);
	expect(service.requests.filter((line) => line.startsWith("DELETE"))).toEqual([]);
});
