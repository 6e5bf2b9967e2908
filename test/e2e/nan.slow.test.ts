import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { program } from "../support/program.ts";
import { envOf, type Ended } from "../support/ragtag.ts";
import { file, folder, KEY, serve, type Service } from "../support/service.ts";
import { at, parseLines, summaryOf } from "../support/values.ts";

type World = {
	readonly service: Service;
	readonly ids: readonly string[];
	/** the one with NaN */
	readonly odd: string;
	/** what a document has, as text of the service */
	textOf(id: string): Promise<string>;
	run(...argv: readonly string[]): Promise<Ended>;
};

/** A release that lists NaN, with one document that has it: a script with pandas sent it for an empty cell. */
async function world(flavour: "ragflow-0.18" | "ragflow-0.21" | "ragflow-0.23"): Promise<World> {
	const service = await serve(3, { flavour });
	const ids = await service.ids();
	const [odd = ""] = ids;
	const documents = `${service.url}/api/v1/datasets/${service.dataset}/documents`;
	const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", connection: "close" };
	const put = async (id: string, text: string): Promise<void> => {
		const answer = await fetch(`${documents}/${id}`, { method: "PUT", headers, body: `{"meta_fields": ${text}}` });
		expect(await answer.text()).toContain('"code":0');
	};
	for (const id of ids) await put(id, '{"author": "Ann", "n": 1}');
	await put(odd, '{"author": "Ann", "pages": NaN}');
	// One state folder, so that a run can be undone.
	const env = { ...envOf(service), XDG_STATE_HOME: await folder() };
	return {
		service,
		ids,
		odd,
		textOf: async (id) => (await fetch(`${documents}?id=${id}`, { headers })).text(),
		run: (...argv) => program([...argv, "--rate", "5000"], env),
	};
}

describe.each(["ragflow-0.18", "ragflow-0.21", "ragflow-0.23"] as const)("one NaN in a dataset of %s", (flavour) => {
	it("causes no outage: lists show it, init and dry runs pass over it, and other documents merge", async () => {
		const { service, ids, odd, textOf, run } = await world(flavour);
		expect(await textOf(odd)).toContain("NaN");
		const named = expect.stringContaining(`document ${odd}, key pages`);
		const listed = await run("docs", "list", "-d", service.dataset, "--json");
		expect([listed.exit, listed.stderr]).toEqual([0, named]);
		const document = parseLines(listed.stdout).find((line) => at(line, "document_id") === odd);
		expect(document).toMatchObject({ meta_fields: { author: "Ann" }, not_json: { pages: "NaN" } });

		const out = join(await folder(), "tags.csv");
		const made = await run("manifest", "init", "-d", service.dataset, "--out", out);
		expect([made.exit, made.stderr, await readFile(out, "utf8")]).toEqual([
			0,
			named,
			expect.not.stringContaining("NaN"),
		]);
		expect((await run("docs", "tag", out, "--dry-run")).exit).toBe(0);

		const all = await file("all.csv", `document_id,owner\n${ids.map((id) => `${id},Eve\n`).join("")}`);
		const merged = await run("docs", "tag", all, "-d", service.dataset, "--mode", "merge", "--json");
		expect([merged.exit, summaryOf(merged.stdout)]).toEqual([1, expect.objectContaining({ updated: 2, failed: 1 })]);
		expect(merged.stdout).toContain(`"error_code":"NOT_JSON","error":"document ${odd} has NaN`);
		expect(await textOf(odd)).toContain("NaN");

		const doctor = await run("doctor", "-d", service.dataset);
		expect([doctor.exit, doctor.stdout.replaceAll(/\s+/g, " ")]).toEqual([0, named]);
	});

	it("can be replaced or removed, and undo names it", async () => {
		const { service, ids, odd, textOf, run } = await world(flavour);
		const rows = await file("all.csv", `document_id,author\n${ids.map((id) => `${id},Eve\n`).join("")}`);
		const replaced = await run("docs", "tag", rows, "-d", service.dataset);
		expect([replaced.exit, await textOf(odd)]).toEqual([0, expect.not.stringContaining("NaN")]);
		const undone = await run("runs", "undo", "--yes", "--json");
		expect([summaryOf(undone.stdout), undone.stderr]).toEqual([
			expect.objectContaining({ updated: 2, invalid: 1 }),
			expect.stringContaining(`can't be undone, because their previous values are not known (${odd})`),
		]);

		const other = await world(flavour);
		const removed = await other.run("docs", "rm", "-d", other.service.dataset, "--id", other.odd, "--yes");
		expect([removed.exit, (await other.service.ids()).length]).toEqual([0, 2]);
	});
});
