import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { listen } from "../../support/listen.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder } from "../../support/service.ts";
import { at, parse, parseLines, range, summaryOf } from "../../support/values.ts";

const ids = range(3).map((n) => `8fe6a0b1c2d3e4f5a6b7c8d9e0f1a2b${n}`);
const [ID = "", OTHER = ""] = ids;
const UPPER = ID.toUpperCase();
const SET = "5f1c0123456789abcdef0123456789ab";

type Caseless = {
	/** `VERB PATH` of each request that writes */
	readonly writes: readonly string[];
	readonly held: ReadonlyMap<string, unknown>;
	run(...argv: readonly string[]): Promise<Ended>;
};

/**
 * A service that compares ids without letter case and answers with its own spelling, as RAGFlow does over MySQL.
 *
 * @param options.hidesIds whether `?id=` is ignored, so that only the whole list can tell
 */
async function caseless({ hidesIds = false } = {}): Promise<Caseless> {
	const held = new Map<string, unknown>(ids.map((id) => [id, { owner: "Ann" }]));
	const writes: string[] = [];
	const service = await listen((request, response) => {
		void answer().then((body) => response.end(JSON.stringify(body)));
		async function answer(): Promise<unknown> {
			const { method = "", url = "" } = request;
			const { pathname, searchParams: query } = new URL(url, "http://service");
			const chunks: Buffer[] = [];
			request.on("data", (chunk: Buffer) => chunks.push(chunk));
			await once(request, "end");
			const body = Buffer.concat(chunks).toString();
			if (pathname === "/api/v1/datasets") return { code: 0, message: "Success", data: [{ id: SET, name: "set" }] };
			const [, dataset = "", document = ""] = /^\/api\/v1\/datasets\/([^/]+)\/documents\/?(.*)$/.exec(pathname) ?? [];
			if (dataset.toLowerCase() !== SET) return { code: 404, message: "no such dataset" };
			const id = document.toLowerCase();
			if (method === "GET") {
				const asked = hidesIds ? undefined : query.get("id")?.toLowerCase();
				const found = [...held].filter(([each]) => asked === undefined || each === asked);
				const docs = found.map(([each, meta_fields]) => ({
					id: each,
					dataset_id: SET,
					name: `${each}.txt`,
					meta_fields,
				}));
				const start = (Number(query.get("page")) - 1) * Number(query.get("page_size"));
				const page = docs.slice(start, start + Number(query.get("page_size")));
				return { code: 0, message: "Success", data: { total: docs.length, docs: page } };
			}
			if (!held.has(id)) return { code: 404, message: "no such document" };
			writes.push(`${method} ${document}`);
			if (method === "DELETE") held.delete(id);
			else held.set(id, at(parse(/\{.*\}/s.exec(body)?.[0] ?? "{}"), "meta_fields"));
			return { code: 0, message: "Success", data: { document_id: id } };
		}
	});
	const home = await folder();
	return {
		writes,
		held,
		run: (noun = "", verb = "", ...argv) => {
			const common = ["-d", SET, "--flavour", "documented", "--rate", "5000", "--json"];
			return ragtag([noun, verb, ...common, ...argv], { env: envOf(service), home });
		},
	};
}

const rowsOf = ({ stdout }: Ended): readonly unknown[] =>
	parseLines(stdout).filter((line) => at(line, "type") === "row");
const DID_YOU_MEAN = expect.objectContaining({
	document_id: UPPER,
	error_code: "OTHER_CASE",
	error: expect.stringContaining(`did you mean ${ID}? Nothing was sent`),
	attempts: 1,
});

describe("an id in another letter case fails its row before anything is sent", () => {
	const ways: [string, readonly string[], boolean][] = [
		["a replace", [], false],
		["a replace of a service that lists all", [], true],
		["a merge", ["--mode", "merge"], false],
		["a merge of a service that lists all", ["--mode", "merge"], true],
		["--only-changed", ["--only-changed"], false],
		["a dry run", ["--dry-run", "--mode", "merge"], false],
		["the first row of a run that reads nothing before", ["--no-undo"], false],
	];
	it.each(ways)("%s", async (_, more, hidesIds) => {
		const service = await caseless({ hidesIds });
		const path = await file("tags.csv", `document_id,owner\n${UPPER},Eve\n`);
		const ended = await service.run("docs", "tag", path, ...more);
		expect([ended.exit, rowsOf(ended), service.writes]).toEqual([1, [DID_YOU_MEAN], []]);
	});

	it("where the dataset is listed for many rows, and the other rows are sent", async () => {
		const service = await caseless();
		const path = await file(
			"tags.csv",
			`document_id,owner\n${[UPPER, ...ids.slice(1)].map((id) => `${id},Eve\n`).join("")}`,
		);
		const ended = await service.run("docs", "tag", path);
		expect(rowsOf(ended)).toEqual([DID_YOU_MEAN]);
		expect(summaryOf(ended.stdout)).toMatchObject({ updated: 2, failed: 1 });
		expect(service.held.get(ID)).toEqual({ owner: "Ann" });
	});

	it.each([false, true])("a removal, where the service ignores which id it is asked for: %s", async (hidesIds) => {
		const service = await caseless({ hidesIds });
		const ended = await service.run("docs", "rm", "--id", UPPER, "--yes");
		expect([ended.exit, rowsOf(ended), service.writes]).toEqual([1, [DID_YOU_MEAN], []]);
	});

	it("a dataset's id, at once, without waiting as in an outage", async () => {
		const service = await caseless();
		await says(service.run("docs", "list", "-d", SET.toUpperCase()), 1, SET);
	});
});

it("where nothing is read before, an answered write is sent once and reported as such", async () => {
	const service = await caseless();
	const path = await file("tags.csv", `document_id,owner\n${OTHER},Eve\n${UPPER},Eve\n`);
	// The first row proves the form, so the second is sent unseen.
	const ended = await service.run("docs", "tag", path, "--no-undo", "--concurrency", "1");
	expect(rowsOf(ended)).toEqual([
		expect.objectContaining({
			error_code: "OTHER_CASE",
			error: expect.stringMatching(
				new RegExp(`about document ${ID}, which is ${UPPER} in another letter case: it was written`),
			),
			attempts: 1,
		}),
	]);
	expect(service.writes.filter((write) => write.endsWith(UPPER))).toHaveLength(1);
	expect([ended.exit, service.held.get(ID)]).toEqual([1, { owner: "Eve" }]);
});

it("the same id in both cases is one document, which is removed once", async () => {
	const service = await caseless();
	await ends(service.run("docs", "rm", "--id", ID, UPPER, "--yes"), 0, { removed: 1, duplicate_skipped: 1 });
});
