import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { listen } from "../../support/listen.ts";
import { file, serve } from "../../support/service.ts";

describe("the id of a missing dataset", () => {
	it("is what a list's hint names, whatever the letter case of RAGFlow's words", async () => {
		for (const words of ["You don't own the dataset nosuch.", "you don't own the dataset nosuch"]) {
			const service = await listen((_, response) => response.end(JSON.stringify({ code: 102, message: words })));
			const { exit, stderr } = await ragtag(["docs", "list", "-d", "nosuch"], { env: envOf(service) });
			expect(exit, words).toBe(1);
			expect(stderr).toContain("Check the dataset's id: ragtag datasets list shows those that this key may use.");
		}
	});
});

const UNKNOWN = "5f1c0123456789abcdef0123456789ab";

/** A manifest that names a dataset in each row, or none. */
async function world(datasets: readonly (string | undefined)[]) {
	const service = await serve(datasets.length, { flavour: "ragflow-0.21" });
	const ids = await service.ids();
	const isNamed = datasets.some((dataset) => dataset !== undefined);
	const rows = ids.map((id, n) => [id, ...(isNamed ? [datasets[n] ?? service.dataset] : []), "x"].join(","));
	const path = await file("rows.csv", `document_id,${isNamed ? "dataset_id," : ""}author\n${rows.join("\n")}\n`);
	return { service, path, run: (...argv: string[]) => ragtag(argv, { env: envOf(service) }) };
}

describe("a dataset that is not there is said at once, and no row is called failed", () => {
	it.each(["docs tag", "docs rm --yes", "docs upload"])("%s with a wrong id in -d", async (command) => {
		const { path, run, service } = await world([undefined, undefined, undefined]);
		const upload = await file("a.txt", "text");
		const argv = [...command.split(" "), command === "docs upload" ? upload : path, "-d", UNKNOWN, "--json"];
		const { stderr } = await ends(run(...argv), 2, { failed: 0, updated: 0, removed: 0, uploaded: 0 });
		expect(stderr).toContain(`no dataset has the id or the name ${UNKNOWN}; nothing was written\n`);
		expect(stderr).toContain("There are: ");
		expect(stderr).not.toMatch(/retry|Resume it with/);
		expect(await service.ids()).toHaveLength(3);
	});

	it("a name in the column dataset_id names the id, and sends no update", async () => {
		const { path, run, service } = await world(["sandbox", "sandbox"]);
		const { exit, stderr } = await run("docs", "tag", path);
		expect(exit).toBe(2);
		expect(stderr).toContain(`${path}:2: sandbox is the name of a dataset, not its id; nothing was written`);
		expect(stderr).toContain(`${service.dataset}. Or leave the column out, and add -d sandbox.`);
		expect(service.requests.filter((line) => line.startsWith("PUT"))).toEqual([]);
	});

	it("one wrong id among several datasets keeps the rows of the others from being written half", async () => {
		const { path, run, service } = await world([undefined, UNKNOWN, undefined]);
		await says(run("docs", "tag", path), 2, `${path}:3: no dataset has the id or the name ${UNKNOWN}`);
		expect(service.requests.filter((line) => line.startsWith("PUT"))).toEqual([]);
	});

	it("a dataset whose documents are listed is written, whatever the list of datasets leaves out", async () => {
		const service = await listen((request, response) => {
			const { pathname } = new URL(request.url ?? "/", "http://localhost");
			if (pathname.endsWith("/datasets")) return response.end('{"code":0,"data":[]}');
			if (request.method === "GET") {
				const docs = [{ id: "a", name: "a.txt", dataset_id: "shared", meta_fields: { author: "x" } }];
				return response.end(JSON.stringify({ code: 0, data: { total: 1, docs } }));
			}
			return response.end('{"code":0,"message":"Success","data":{"document_id":"a"}}');
		});
		const path = await file("rows.csv", "document_id,dataset_id,author\na,shared,x\n");
		const { exit } = await ragtag(["docs", "tag", path], { env: envOf(service) });
		expect(exit).toBe(0);
	});

	it("a column called dataset is offered as the dataset, or named as the key that it becomes", async () => {
		const { service, run } = await world([undefined]);
		const [id = ""] = await service.ids();
		const path = await file("rows.csv", `document_id,dataset,author\n${id},${service.dataset},x\n`);
		await says(run("docs", "tag", path), 3, "to take it from the column dataset: --map dataset=dataset_id");
		const named = await run("docs", "tag", path, "-d", service.dataset);
		await says(named, 0, "warning: dataset is written as a key of each document");
	});
});
