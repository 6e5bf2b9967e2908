import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { BAD_GATEWAY, CUT, type Lie, liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file } from "../../support/service.ts";
import { linesOf, range, summaryOf } from "../../support/values.ts";

const html = "<!doctype html><title>Sign in to RAG</title><p>Welcome";
const success = (id: string) => ({ code: 0, message: "Success", data: { document_id: id } });

/** An id, so that the run begins without a list of datasets. */
const ID = "d".repeat(32);
const argvOf = (command: string, path: string, dataset = "set"): string[] => {
	const argv = ["docs", command, path, "-d", dataset, "--rate", "5000", "--attempts", "1", "--json"];
	return command === "rm" ? [...argv, "--yes"] : argv;
};

const manifest = (count: number): string => `document_id,a\n${linesOf(count, (n) => `doc-${n},${n}`)}`;

describe("a service that answers falsely: no row of it may count as updated", () => {
	it.each<[string, Lie, number, RegExp, string?]>([
		["an HTML page for everything", () => html, 6, /returned HTML "Sign in to RAG" instead of JSON/, ID],
		["an HTML page for updates", ({ method }) => (method === "PUT" ? html : undefined), 6, /returned HTML/],
		[
			"code 0 with data false",
			({ method }) => (method === "PUT" ? { code: 0, data: false, message: "who?" } : undefined),
			4,
			/data false: the API key is not accepted/,
		],
		[
			"success, and changes nothing",
			({ method }) => (method === "PUT" ? { code: 0, message: "Success" } : undefined),
			6,
			/answered success to the update of document doc-\d, in the body forms multipart, plain, json, and it still has what it had before/,
		],
		[
			"success to two forms, and changes nothing, and refuses the third",
			({ method, type }) => {
				if (method !== "PUT") return undefined;
				const isForm = type.startsWith("multipart/form-data");
				return isForm ? { code: 0 } : { code: 101, message: "content type must be multipart/form-data" };
			},
			6,
			/doc-0, in the body forms multipart, plain, and it still has what it had before; in the form json it refused the update: .*content type must be/,
		],
		[
			"success for another document",
			({ method }) => (method === "PUT" ? success("another") : undefined),
			6,
			/3 answers in a row were about another document .*answered about another, not about doc-\d/,
		],
		[
			"a success that is cut",
			({ method }) => (method === "PUT" ? '{"code":0,"message":"Succ' : undefined),
			1,
			/no complete JSON/,
		],
		["a code of text", ({ method }) => (method === "PUT" ? { code: "0" } : undefined), 1, /without a numeric code/],
	])("%s", async (_, lie, code, words, dataset) => {
		const service = await liar(5, lie);
		const path = await file("tags.csv", manifest(5));
		const { exit, stdout, stderr } = await ragtag(argvOf("tag", path, dataset), { env: envOf(service) });
		expect(exit).toBe(code);
		expect(summaryOf(stdout)).toMatchObject({ rows: 5, updated: 0, changes: 0, verified: false, exit_code: code });
		expect(stderr).toMatch(words);
	});

	it("a list that ignores the id, or has a wrong total, does not mislead the read that proves an update", async () => {
		const service = await liar(250, ({ query }) => {
			query.delete("id");
			return undefined;
		});
		const path = await file("tags.csv", manifest(250));
		const { exit, stdout } = await ragtag(argvOf("tag", path), { env: envOf(service) });
		expect([exit, service.held.get("doc-249")]).toEqual([0, { a: "249" }]);
		expect(summaryOf(stdout)).toMatchObject({ updated: 250, verified: true });
	});
});

it.each([
	["cuts", CUT],
	["answers 502 to", BAD_GATEWAY],
])("a proxy that %s every PATCH costs no row: after three probes PATCH counts as unknown", async (_, said) => {
	const service = await liar(5, ({ method }) => (method === "PATCH" ? said : undefined));
	const path = await file("tags.csv", manifest(5));
	const argv = ["docs", "tag", path, "-d", "set", "--rate", "5000", "--json"];
	await ends(ragtag(argv, { env: envOf(service) }), 0, { updated: 5, failed: 0, verified: true });
	expect(service.requests.filter((line) => line.startsWith("PATCH"))).toHaveLength(3);
	expect([...service.held.values()]).toEqual(range(5).map((n) => ({ a: `${n}` })));
});

describe("a removal whose answer is false", () => {
	it("a success whose document stays is not counted, and the run stops", async () => {
		const service = await liar(5, ({ method, path }) =>
			method === "DELETE" ? success(path.slice(path.lastIndexOf("/") + 1)) : undefined,
		);
		const path = await file("ids.csv", manifest(5));
		const { exit, stdout, stderr } = await ragtag([...argvOf("rm", path), "--ignore", "a"], { env: envOf(service) });
		expect(exit).toBe(6);
		expect(summaryOf(stdout)).toMatchObject({ removed: 0 });
		expect(stderr).toContain("still lists it");
	});

	it("a list that names a document of another dataset causes no removal", async () => {
		const lie: Lie = ({ method, query }) =>
			method === "GET" && query.has("id")
				? { code: 0, data: { total: 1, docs: [{ id: query.get("id"), name: "n", dataset_id: "other" }] } }
				: undefined;
		const service = await liar(3, lie);
		const path = await file("ids.csv", manifest(3));
		await ends(ragtag([...argvOf("rm", path), "--ignore", "a"], { env: envOf(service) }), 6, { removed: 0, failed: 3 });
		expect(service.requests.filter((line) => line.startsWith("DELETE"))).toEqual([]);
		expect(service.held.size).toBe(3);
	});
});
