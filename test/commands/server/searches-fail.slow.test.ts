import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve as service, type Service } from "../../support/service.ts";

const FAST = ["--rate", "5000", "--json"];
const GOOD = 60_000;

/** A sandbox with a search engine, whose documents have metadata, or none. */
async function serve(flavour: Flavour, isTagged = true) {
	const sandbox = await service(130, { flavour, control: true });
	const { dataset, control } = sandbox;
	const env = { ...envOf(sandbox), XDG_STATE_HOME: await folder() };
	const ids = await sandbox.ids();
	const tag = async (rows: readonly string[], ...flags: string[]) => {
		const path = await file("tags.csv", `document_id,${rows.join("\n")}\n`);
		return ragtag(["docs", "tag", path, "-d", dataset, ...FAST, ...flags], { env });
	};
	if (isTagged) await tag(["author,title", ...ids.map((id, n) => `${id},Ann ${n},T${n}`)], "--no-undo");
	const fail = (milliseconds: number, on: object): void =>
		control?.setPlan({ faults: [{ fault: "searches-fail", milliseconds, on: { ...on } }] });
	return { sandbox, dataset, ids, env, tag, fail, mend: () => control?.reset() };
}

/** What each document has, without the client, once searches work. */
async function held({ control, documents }: Service): Promise<ReadonlyMap<string, unknown>> {
	control?.reset();
	return new Map((await documents()).map(({ id, metadata }) => [id, metadata]));
}

const isList = { method: "GET", path: "/documents$" };
const isUpdate = { method: "PATCH", path: "/documents/0+[1-9a-f][0-9a-f]*$" };

describe("no row fails while the whole search engine is away for a moment", () => {
	it.each([
		["replace", true, []],
		["merge", true, ["--mode", "merge"]],
		["replace without undo", true, ["--no-undo"]],
		["the first metadata of documents", false, ["--mode", "replace"]],
	] as const)("of a run with %s", async (_, isTagged, flags) => {
		const { sandbox, ids, tag } = await serve("ragflow-0.27", isTagged);
		const away = { fault: "searches-fail", updates: "refused", milliseconds: 1_000 };
		sandbox.control?.setPlan({ faults: [{ ...away, on: { ...isUpdate, nth: 40 } }] });
		await ends(tag(["team", ...ids.map((id) => `${id},x`)], ...flags), 0, { updated: 130, failed: 0 });
		expect(sandbox.control?.plan()[0]?.fired).toBe(1);
		for (const had of (await held(sandbox)).values()) expect(had).toMatchObject({ team: "x" });
	});
});

it.each([
	["from the first list on", { ...isList, nth: 1 }],
	["from the second page on", { ...isList, nth: 3 }],
	["when the first update is read back", { ...isUpdate, nth: 1 }],
] as const)("a merge removes no key where searches fail for a second %s", async (_, on) => {
	const { sandbox, ids, tag, fail, env } = await serve("ragflow-0.27");
	const before = await held(sandbox);
	fail(1_000, on);
	await ends(tag(["team", ...ids.map((id) => `${id},x`)], "--mode", "merge"), 0, { updated: 130 });
	expect(sandbox.control?.plan()[0]?.fired).toBe(1);
	const after = await held(sandbox);
	for (const [id, had] of before) expect(after.get(id)).toEqual({ ...Object(had), team: "x" });
	await ragtag(["runs", "undo", "--yes"], { env });
	expect(await held(sandbox)).toEqual(before);
});

it.each(["ragflow-0.24", "ragflow-0.25", "ragflow-0.27", "ragflow-1.0"] as const)(
	"a merge on %s writes nothing while searches fail for good, and ends with 6",
	async (flavour) => {
		const { sandbox, ids, tag, fail } = await serve(flavour);
		const before = await held(sandbox);
		fail(GOOD, { ...isList, nth: 1 });
		const rows = ["team", ...ids.map((id) => `${id},x`)];
		const { stderr } = await ends(tag(rows, "--mode", "merge", "--max-outage", "300ms"), 6, {
			updated: 0,
			pending: 130,
		});
		expect(stderr).toContain("If these documents have no metadata, `--mode replace` writes the same.");
		expect(await held(sandbox)).toEqual(before);
	},
);

it("an undo does not empty documents whose metadata a failing search hid when they were written", async () => {
	const { sandbox, ids, tag, fail, env } = await serve("ragflow-0.27");
	fail(GOOD, { ...isList, nth: 1 });
	const few = ids.slice(0, 3);
	await tag(["team", ...few.map((id) => `${id},x`)], "--max-outage", "300ms");
	const written = await held(sandbox);
	const { stderr } = await ragtag(["runs", "undo", "--yes"], { env });
	expect(stderr).toContain("can't be undone");
	expect(await held(sandbox)).toEqual(written);
});

it("documents without any metadata are tagged, and all but the first are undone", async () => {
	const { sandbox, ids, tag, env } = await serve("ragflow-0.27", false);
	await ends(tag(["team", ...ids.map((id) => `${id},x`)]), 0, { updated: 130, verified: true });
	await ragtag(["runs", "undo", "--yes"], { env });
	const left = [...(await held(sandbox)).values()];
	expect(left).toEqual(ids.map((_, n) => (n === 0 ? { team: "x" } : {})));
});

it.each([
	["docs", "list"],
	["manifest", "init"],
] as const)("%s %s warns that metadata may be hidden, and goes on", async (...command) => {
	const { dataset, fail, env } = await serve("ragflow-0.27");
	fail(GOOD, { ...isList, nth: 1 });
	await says(ragtag([...command, "-d", dataset], { env }), 0, "the search engine of the service is failing");
});

it("a verification during a failing search reports no document as lost", async () => {
	const { sandbox, ids, tag, fail, env } = await serve("ragflow-0.27");
	await tag(["team", ...ids.map((id) => `${id},x`)]);
	fail(1_000, { ...isList, nth: 1 });
	const { exit, stderr } = await ragtag(["runs", "verify"], { env });
	expect([exit, stderr]).toEqual([0, expect.not.stringContaining("lost:")]);
	expect((await held(sandbox)).size).toBe(130);
});

it("a server that each first metadata holds gets two of them at once, and the run says how long all take", async () => {
	const { sandbox, ids, tag } = await serve("ragflow-0.27", false);
	sandbox.control?.setPlan({ faults: [{ fault: "busy", which: "first-metadata", milliseconds: 600 }] });
	const { exit, stderr } = await tag(["team", ...ids.slice(0, 6).map((id) => `${id},x`)], "--no-undo");
	expect(exit).toBe(0);
	expect(stderr.match(/The first metadata of a document takes this server/g)).toHaveLength(1);
});
