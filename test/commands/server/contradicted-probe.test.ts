import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { liar, type Liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder } from "../../support/service.ts";
import { linesOf, range } from "../../support/values.ts";

/** A service that looks the dataset up before the verb: each probe, about a dataset that is not there, gets RAGFlow's words. */
async function lookingUpFirst(documents: number, routes: readonly string[], message = "no"): Promise<Liar> {
	const server = await liar(documents, ({ method, path }) => {
		if (path !== "/api/v1/datasets" && !path.includes("/datasets/set/"))
			return { code: 102, message: "You don't own the dataset." };
		const route = method === "DELETE" ? `${method} ${path.endsWith("/documents") ? "body" : "path"}` : method;
		return ["GET", "POST", ...routes].includes(route) ? undefined : { http: 405, code: 405, message };
	});
	for (const n of range(documents)) server.held.set(`doc-${n}`, { was: n });
	return server;
}

const documents = ["PUT", "DELETE path"];
const manifest = (count: number): Promise<string> =>
	file("tags.csv", `document_id,author\n${linesOf(count, (n) => `doc-${n},of ${n}`)}`);

describe("a service whose probes say RAGFlow, and whose answers to real requests say otherwise", () => {
	it("gets all rows of a run, and of the next one at once", async () => {
		const server = await lookingUpFirst(12, documents);
		const home = await folder();
		const argv = ["docs", "tag", await manifest(12), "-d", "set", "--json"];
		await ends(ragtag(argv, { env: envOf(server), home }), 0, { updated: 12, attempts: 12 });
		expect([...server.held.values()]).toEqual(range(12).map((n) => ({ author: `of ${n}` })));
		const before = server.requests.length;
		await ragtag(["doctor", "-d", "set"], { env: envOf(server), home });
		expect((await ragtag(argv, { env: envOf(server), home })).exit).toBe(0);
		expect(server.requests.slice(before).filter((each) => /PATCH .*doc-/.test(each))).toEqual([]);
	});

	it("gets all files of an upload once, with their metadata", async () => {
		const server = await lookingUpFirst(1, documents);
		const files = await folder();
		for (const n of range(4)) await writeFile(join(files, `${n}.txt`), `text ${n}`);
		const argv = ["docs", "upload", ...range(4).map((n) => join(files, `${n}.txt`)), "-d", "set", "--set", "team=x"];
		await ends(ragtag([...argv, "--json"], { env: envOf(server) }), 0, { uploaded: 4, attempts: 4 });
		expect([...server.held.values()]).toEqual([{ was: 0 }, ...range(4).map(() => ({ team: "x" }))]);
	});

	it("removes the documents that were named, and no other", async () => {
		const server = await lookingUpFirst(6, documents);
		const argv = ["docs", "rm", "--id", ...range(4).map((n) => `doc-${n}`), "-d", "set", "--yes", "--json"];
		await ends(ragtag(argv, { env: envOf(server) }), 0, { removed: 4, attempts: 4 });
		expect([...server.held.keys()]).toEqual(["doc-4", "doc-5"]);
	});
});

describe("a service that routes no request that changes a document", () => {
	it.each([
		["tag", async () => ["docs", "tag", await manifest(12), "-d", "set"], ["PATCH", "PUT"]],
		[
			"upload",
			async () => ["docs", "upload", await file("a.txt", "text"), "-d", "set", "--set", "team=x"],
			["PATCH", "PUT"],
		],
		[
			"rm",
			async () => ["docs", "rm", "--id", "doc-0", "-d", "set", "--yes"],
			["the id in the body", "the id in the path"],
		],
	])("ends %s with both of its answers, not with ten failed rows", async (_, argvOf, named) => {
		const server = await lookingUpFirst(12, [], "never heard of it");
		const { exit, stderr } = await ragtag(await argvOf(), { env: envOf(server) });
		expect(exit).toBe(6);
		for (const each of named) expect(stderr).toContain(each);
		expect(stderr.match(/never heard of it/g)).toHaveLength(2);
		for (const n of range(12)) expect(server.held.get(`doc-${n}`)).toEqual({ was: n });
	});
});
