import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sentIn } from "../../support/journal-lines.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, type Service, serve } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const before = { owner: "Ann", pages: 3, topics: ["news", "travel"] };

/** A dataset of one document that has something, and a manifest for it. */
async function world(row: (id: string) => string): Promise<{ service: Service; path: string }> {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	await service.put(id, before);
	return { service, path: await file("tags.csv", row(id)) };
}

const tag = ({ service, path }: { service: Service; path: string }, ...more: string[]): Promise<Ended> =>
	ragtag(["docs", "tag", path, "-d", service.dataset, ...more], { env: envOf(service) });

const held = async (service: Service): Promise<unknown> => (await service.documents())[0]?.metadata;

describe("--mode merge", () => {
	it("removes the keys of cells that hold the delete token, whatever their columns' types, and keeps the others", async () => {
		const made = await world((id) => `document_id,owner,pages:number,publish_date\n${id},Bob,!delete,!delete\n`);
		expect((await tag(made, "--mode", "merge")).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: "Bob", topics: ["news", "travel"] });
	});

	it("takes another token, and the default is then ordinary text", async () => {
		const made = await world((id) => `document_id,owner,pages:number,note\n${id},!delete,(none),(none)\n`);
		expect((await tag(made, "--mode", "merge", "--delete-token", "(none)")).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: "!delete", topics: ["news", "travel"] });
	});

	it("changes lists by + and - items, from cells and from --set", async () => {
		const made = await world((id) => `document_id,topics:list\n${id},+money|-news\n`);
		expect((await tag(made, "--mode", "merge", "--set", "owner:list=+Bob", "--set", "pages=!delete")).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: ["Ann", "Bob"], topics: ["travel", "money"] });
	});

	it.each([
		["+a|b", '"b" has no sign, and "+a" has one'],
		["+a|-b|", 'an item is empty, and "+a" has a sign'],
		["+a | -b", '" -b" has a blank before its sign'],
		[" +a|-b", '" +a" has a blank before its sign'],
		["\u2212b|+c", '"\u2212b" begins with a dash or a wide sign; a sign is + or -'],
		["\u2013news", '"\u2013news" begins with a dash or a wide sign; a sign is + or -'],
		["+x|!delete", '"!delete" removes no item'],
		["news|!delete", '"!delete" removes no item'],
		["+", '"+" is a sign without an item'],
		["-", '"-" is a sign without an item'],
	])("refuses the half change %s: it would replace the whole list by those texts", async (cell, why) => {
		const made = await world((id) => `document_id,topics:list\n${id},${cell}\n`);
		const { exit, stderr } = await tag(made, "--mode", "merge");
		expect([exit, made.service.requests]).toEqual([3, []]);
		expect(stderr).toContain(`: topics: ${why}; write each item as +item or -item`);
		expect(stderr).toContain("or the whole list as JSON in topics:json");
		const check = ["manifest", "check", made.path, "-d", made.service.dataset, "--mode", "merge"];
		expect((await ragtag(check)).stderr).toContain(why);
		const plain = await world((id) => `document_id\n${id}\n`);
		const set = await tag(plain, "--mode", "merge", "--set", `topics:list=${cell}`);
		expect([set.exit, plain.service.requests]).toEqual([2, []]);
		expect(set.stderr).toContain(why);
	});

	it("stores texts that begin with a sign from JSON, and refuses there only a change with a sign alone", async () => {
		const texts = ["+49 171 1", "news"];
		const cell = JSON.stringify(texts).replaceAll('"', '""');
		const made = await world((id) => `document_id,topics:json\n${id},"${cell}"\n`);
		expect((await tag(made, "--mode", "merge")).exit).toBe(0);
		expect(at(await held(made.service), "topics")).toEqual(texts);
		const lines = await world((id) => JSON.stringify({ document_id: id, topics: texts }));
		expect((await tag(lines, "--mode", "merge")).exit).toBe(0);
		expect(at(await held(lines.service), "topics")).toEqual(texts);
		const alone = await world((id) => JSON.stringify({ document_id: id, topics: ["+a", "+"] }));
		expect((await tag(alone, "--mode", "merge")).exit).toBe(3);
	});

	it("takes what manifest init wrote, whatever the items of a list begin with", async () => {
		const { service } = await world(() => "");
		const [id = ""] = await service.ids();
		const lists = { topics: ["news", "-5"], range: ["a", " +b"], dashes: ["\u2013 x"] };
		await service.put(id, lists);
		const init = await ragtag(["manifest", "init", "-d", service.dataset], { env: envOf(service) });
		const path = await file("init.csv", init.stdout);
		const { exit } = await ragtag(["docs", "tag", path, "--mode", "merge"], { env: envOf(service) });
		expect([exit, await held(service)]).toEqual([0, lists]);
	});

	it("removes a key of any type by --set, as a cell does: a list of the token's text would be stored", async () => {
		const made = await world((id) => `document_id\n${id}\n`);
		const set = ["--set", "topics:list=!delete", "--set", "pages:number=!delete"];
		expect((await tag(made, "--mode", "merge", ...set)).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: "Ann" });
	});

	it("takes half a change that a document has already, with --only-changed", async () => {
		const made = await world((id) => `document_id,topics:list\n${id},news|-travel\n`);
		const [id = ""] = await made.service.ids();
		await made.service.put(id, { topics: ["news", "-travel"] });
		expect((await tag(made, "--mode", "merge", "--only-changed")).exit).toBe(0);
		await made.service.put(id, { topics: ["news"] });
		expect((await tag(made, "--mode", "merge", "--only-changed")).exit).toBe(3);
	});

	it("checks what a list gains by the schema, not the signs: a good change would be refused", async () => {
		const schema = await file(
			"schema.json",
			JSON.stringify({ properties: { topics: { type: "array", items: { enum: ["money", "news"] } } } }),
		);
		const made = await world((id) => `document_id,topics:list\n${id},+money|-travel\n`);
		expect((await tag(made, "--mode", "merge", "--schema", schema)).exit).toBe(0);
		expect(at(await held(made.service), "topics")).toEqual(["news", "money"]);
		const wrong = await world((id) => `document_id,topics:list\n${id},+sport\n`);
		expect((await tag(wrong, "--mode", "merge", "--schema", schema)).exit).toBe(3);
		expect(wrong.service.requests).toEqual([]);
	});

	it("records the whole metadata that was sent, not the row: an undo or a resume needs it", async () => {
		const { service, path } = await world((id) => `document_id,owner,topics:list\n${id},!delete,+money\n`);
		const state = await folder();
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", "--state-dir", state, "--json"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		const run = join(state, "runs", String(at(summaryOf(stdout), "run")));
		const sent = await sentIn(join(run, "journal.log"));
		expect(sent).toEqual([expect.objectContaining({ metadata: { pages: 3, topics: ["news", "travel", "money"] } })]);
	});

	it("of a recorded run is resumed with the token that it began with", async () => {
		const { service, path } = await world((id) => `document_id,owner\nabsent,(none)\n${id},(none)\n`);
		const state = await folder();
		const world_ = { env: { ...envOf(service), RAGTAG_STATE_DIR: state } };
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", "--delete-token", "(none)"];
		expect((await ragtag([...argv, "--max-errors", "1", "--concurrency", "1"], world_)).exit).toBe(9);
		expect((await ragtag(["runs", "retry"], world_)).exit).toBe(1);
		expect(await held(service)).toEqual({ pages: 3, topics: ["news", "travel"] });
	});
});

describe("--delete-token", () => {
	it("may be changed in a replace run that means the text literally: the text and lists of + and - are stored literally", async () => {
		const made = await world((id) => `document_id,owner,topics:list\n${id},!delete,+a|-b\n`);
		const { stdout } = await tag(made, "--delete-token", "(none)", "--json");
		expect(parseLines(stdout).at(-1)).toMatchObject({ updated: 1 });
		expect(await held(made.service)).toEqual({ owner: "!delete", topics: ["+a", "-b"] });
	});
});

describe("without --mode merge", () => {
	it.each<[string, (id: string) => string, string[], string]>([
		["a cell of the token", (id) => `document_id,author\n${id},!delete\n`, [], '"!delete" removes a key'],
		["such a cell of a typed column", (id) => `document_id,pages:number\n${id},!delete\n`, [], '"!delete" rem'],
		["a list of changes", (id) => `document_id,topics:list\n${id},+x|-y\n`, [], "changes a list only with"],
		["such a JSON row", (id) => `{"document_id":"${id}","a":"!delete"}`, [], '"!delete" removes a key'],
		["such a list", (id) => `[{"document_id":"${id}","meta_fields":{"a":["+x"]}}]`, [], "changes a list only"],
		["another token", (id) => `document_id,a\n${id},(none)\n`, ["--delete-token", "(none)"], '"(none)" removes'],
	])("%s sends nothing: all other keys would be removed", async (_, text, more, why) => {
		const made = await world(text);
		const { exit, stderr } = await tag(made, ...more);
		expect([exit, made.service.requests]).toEqual([3, []]);
		expect(stderr).toContain(why);
		expect(stderr).toContain("--mode merge; for");
		const check = ["manifest", "check", made.path, "-d", made.service.dataset, ...more];
		expect((await ragtag(check)).stderr).toContain(why);
		expect((await ragtag([...check, "--mode", "merge"])).exit).toBe(0);
	});

	it("a :json cell is literal: such values from manifest init are sent back unchanged", async () => {
		const { service } = await world(() => "");
		const [id = ""] = await service.ids();
		const before = { note: "!delete", phones: ["+49 171 1", "-5"] };
		await service.put(id, before);
		const init = await ragtag(["manifest", "init", "-d", service.dataset], { env: envOf(service) });
		const path = await file("init.csv", init.stdout);
		const { exit } = await ragtag(["docs", "tag", path, "--set", "more=1"], { env: envOf(service) });
		expect([exit, await held(service)]).toEqual([0, { ...before, more: "1" }]);
	});

	it("a value that the document already has is never invalid with --only-changed or --dry-run", async () => {
		const made = await world((id) => `document_id,owner,topics:list\n${id},!delete,+a|-b\n`);
		const [id = ""] = await made.service.ids();
		await made.service.put(id, { owner: "!delete", topics: ["+a", "-b"] });
		expect((await tag(made, "--only-changed")).exit).toBe(0);
		expect((await tag(made, "--dry-run")).exit).toBe(0);
		await made.service.put(id, { owner: "Ann", topics: ["+a", "-b"] });
		expect((await tag(made, "--only-changed")).exit).toBe(3);
	});
});
