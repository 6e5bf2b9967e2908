import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder } from "../../support/service.ts";
import { at, linesOf, parse, range } from "../../support/values.ts";

type Routes = Partial<Record<"PUT" | "PATCH" | "DELETE path" | "DELETE body", boolean>>;

type Server = { readonly url: string; readonly held: Map<string, unknown>; readonly requests: readonly string[] };

/** A service that looks the dataset up before the verb: each probe, about a dataset that is not there, gets RAGFlow's words. */
async function lookingUpFirst(
	documents: number,
	routes: Routes,
	refusal = { status: 405, message: "no" },
): Promise<Server> {
	const held = new Map<string, unknown>(range(documents).map((n) => [`doc-${n}`, { was: n }]));
	const names = new Map(range(documents).map((n) => [`doc-${n}`, `doc-${n}.txt`]));
	const answerOf = (method: string, url: URL, body: string): unknown => {
		const { pathname, searchParams: query } = url;
		if (pathname === "/api/v1/datasets") return { code: 0, data: [{ id: "set", name: "set" }] };
		const [dataset, id] = /\/datasets\/([^/]+)\/documents(?:\/(.+))?$/.exec(pathname)?.slice(1) ?? [];
		if (dataset !== "set") return { code: 102, message: "You don't own the dataset." };
		if (method === "GET") {
			const found = [...held.keys()].filter(
				(each) => [null, each].includes(query.get("id")) && [null, names.get(each)].includes(query.get("name")),
			);
			const docs = query.get("page") === "1" ? found : [];
			const document = (each: string) => ({
				id: each,
				dataset_id: "set",
				name: names.get(each),
				meta_fields: held.get(each),
			});
			return { code: 0, data: { total: found.length, docs: docs.map(document) } };
		}
		if (method === "POST") {
			const name = /filename="([^"]*)"/.exec(body)?.[1] ?? "";
			const made = `doc-${held.size}`;
			held.set(made, {});
			names.set(made, name);
			return { code: 0, data: [{ id: made, name }] };
		}
		const route = method === "DELETE" ? (id === undefined ? "DELETE body" : "DELETE path") : method;
		if (!Object.hasOwn(routes, route)) return undefined;
		const document = id ?? String(at(at(parse(body), "ids"), 0));
		if (!held.has(document)) return { code: 404, message: "no such document" };
		if (method === "DELETE") held.delete(document);
		else held.set(document, at(parse(/\{.*\}/s.exec(body)?.[0] ?? "{}"), "meta_fields"));
		return { code: 0, message: "Success", data: { document_id: document } };
	};
	const { url, requests } = await listen((request, response) => {
		const chunks: Buffer[] = [];
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => {
			const body = Buffer.concat(chunks).toString();
			const answer = answerOf(request.method ?? "", new URL(request.url ?? "", "http://it"), body);
			if (answer === undefined) response.writeHead(refusal.status);
			response.end(JSON.stringify(answer ?? { code: refusal.status, message: refusal.message }));
		});
	});
	return { url, held, requests };
}

const documents = { PUT: true, "DELETE path": true } as const;
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
		const server = await lookingUpFirst(12, {}, { status: 405, message: "never heard of it" });
		const { exit, stderr } = await ragtag(await argvOf(), { env: envOf(server) });
		expect(exit).toBe(6);
		for (const each of named) expect(stderr).toContain(each);
		expect(stderr.match(/never heard of it/g)).toHaveLength(2);
		for (const n of range(12)) expect(server.held.get(`doc-${n}`)).toEqual({ was: n });
	});
});
