import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ended, envOf, ragtag } from "../support/ragtag.ts";
import { file, folder, type Service, serve } from "../support/service.ts";
import { at, parseLines, summaryOf } from "../support/values.ts";

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

	it("takes another token, and the default is a text like any other then", async () => {
		const made = await world((id) => `document_id,owner,pages:number,note\n${id},!delete,(none),(none)\n`);
		expect((await tag(made, "--mode", "merge", "--delete-token", "(none)")).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: "!delete", topics: ["news", "travel"] });
	});

	it("changes lists by + and - items, from cells and from --set", async () => {
		const made = await world((id) => `document_id,topics:list\n${id},+money|-news\n`);
		expect((await tag(made, "--mode", "merge", "--set", "owner:list=+Bob", "--set", "pages=!delete")).exit).toBe(0);
		expect(await held(made.service)).toEqual({ owner: ["Ann", "Bob"], topics: ["travel", "money"] });
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

	it("records the whole metadata that was sent, not the row: an undo or a resume must know what went out", async () => {
		const { service, path } = await world((id) => `document_id,owner,topics:list\n${id},!delete,+money\n`);
		const state = await folder();
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", "--state-dir", state, "--json"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect(exit).toBe(0);
		const run = join(state, "runs", String(at(summaryOf(stdout), "run")));
		expect(await readdir(run)).toContain("sent.jsonl");
		const lines = (await readFile(join(run, "sent.jsonl"), "utf8")).split("\n").filter((line) => line.includes('"m":'));
		expect(lines).toHaveLength(1);
		expect(lines[0]).toContain('"m":{"pages":3,"topics":["news","travel","money"]}');
	});

	it("of a recorded run is gone on with by the token that it began with", async () => {
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
	it("is refused without --mode merge: the token would be written as a value", async () => {
		const made = await world((id) => `document_id,owner\n${id},!delete\n`);
		const { exit, stderr } = await tag(made, "--delete-token", "!delete");
		expect([exit, made.service.requests]).toEqual([2, []]);
		expect(stderr).toContain("--mode merge");
	});

	it("may not be empty: an empty cell is no order to remove", async () => {
		const made = await world((id) => `document_id,owner\n${id},x\n`);
		expect((await tag(made, "--mode", "merge", "--delete-token", "")).exit).toBe(2);
	});

	it("is a plain text in a replace run, which removes keys by leaving them out", async () => {
		const made = await world((id) => `document_id,owner,topics:list\n${id},!delete,+a|-b\n`);
		const { stdout } = await tag(made, "--json");
		expect(parseLines(stdout).at(-1)).toMatchObject({ updated: 1 });
		expect(await held(made.service)).toEqual({ owner: "!delete", topics: ["+a", "-b"] });
	});
});
