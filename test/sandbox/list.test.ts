import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import * as by from "./support.ts";

const seven = ["g", "f", "e", "d", "c", "b", "a"];

async function withSeven(options = {}): Promise<{ sandbox: Sandbox; dataset: string; ids: string[] }> {
	const sandbox = await by.start(options);
	const dataset = await by.createDataset(sandbox);
	// One request: all seven have the same time, so only the order of creation distinguishes them.
	return { sandbox, dataset, ids: await by.upload(sandbox, dataset, ...seven) };
}

describe("paging", () => {
	test("pages show every document once, in the order of creation, even with equal times", async () => {
		const { sandbox, dataset } = await withSeven();
		const pages = await Promise.all(
			["1", "2", "3", "4"].map((page) => by.names(sandbox, dataset, { page, page_size: "3" })),
		);
		expect(pages).toEqual([["g", "f", "e"], ["d", "c", "b"], ["a"], []]);
		expect(by.at((await by.list(sandbox, dataset, { page: "9" })).data, "total")).toBe(7);
		expect(await by.names(sandbox, dataset, { page_size: "3", desc: "True" })).toEqual(["a", "b", "c"]);
		expect(await by.names(sandbox, dataset, { page_size: "3", desc: "False", page: "2" })).toEqual(["d", "c", "b"]);
	});

	test("after a removal, a page starts at its new offset", async () => {
		const { sandbox, dataset, ids } = await withSeven();
		await by.names(sandbox, dataset, { page: "1", page_size: "3" });
		await by.send(sandbox, "DELETE", by.documentsPath(dataset, ids[0]));
		expect(await by.names(sandbox, dataset, { page: "2", page_size: "3" })).toEqual(["c", "b", "a"]);
		expect(await by.names(sandbox, dataset, { page: "1", page_size: "3" })).toEqual(["f", "e", "d"]);
		await by.upload(sandbox, dataset, "new");
		expect(await by.names(sandbox, dataset, { page: "3", page_size: "3" })).toEqual(["new"]);
	});

	test("documents can be ordered by their last update", async () => {
		const { sandbox, dataset, ids } = await withSeven();
		await new Promise((resolve) => setTimeout(resolve, 5));
		await by.put(sandbox, dataset, ids[3] ?? "", "{}");
		expect(await by.names(sandbox, dataset, { orderby: "update_time", desc: "true", page_size: "2" })).toEqual([
			"d",
			"a",
		]);
	});

	test("a page has thirty documents where the request sets no page size", async () => {
		const sandbox = await by.start({ documents: 31 });
		expect(await by.names(sandbox, sandbox.datasetId ?? "")).toHaveLength(30);
	});

	test("a page size over the limit is refused or reduced, as the option says", async () => {
		const strict = await withSeven({ pageSizeLimit: 5 });
		expect(await by.list(strict.sandbox, strict.dataset, { page_size: "6" })).toMatchObject({
			status: 400,
			code: 400,
			message: "page_size is over 5",
		});
		expect(await by.names(strict.sandbox, strict.dataset)).toHaveLength(5);
		const capped = await withSeven({ pageSizeLimit: 5, onLargePage: "cap" });
		expect(await by.names(capped.sandbox, capped.dataset, { page_size: "6" })).toHaveLength(5);
		expect(await by.names(capped.sandbox, capped.dataset, { page_size: "6", page: "2" })).toEqual(["b", "a"]);
	});

	test.each<Record<string, string>>([
		{ page: "0" },
		{ page: "-1" },
		{ page: "1.5" },
		{ page: "x" },
		{ page: "" },
		{ page: "9".repeat(20) },
		{ page: String(Number.MAX_SAFE_INTEGER), page_size: "2" },
		{ page_size: "0" },
		{ page_size: "1001" },
		{ desc: "maybe" },
		{ orderby: "name" },
		{ id: "" },
		{ name: "" },
		{ metadata_condition: "" },
		{ metadata_condition: "{" },
		{ metadata_condition: "[]" },
		{ metadata_condition: '{"logic":"xor"}' },
		{ metadata_condition: '{"conditions":{}}' },
		{ metadata_condition: '{"conditions":[1]}' },
		{ metadata_condition: '{"conditions":[{"comparison_operator":"is"}]}' },
		{ metadata_condition: '{"conditions":[{"name":"a"}]}' },
		{ metadata_condition: '{"conditions":[{"name":"a","comparison_operator":"="}]}' },
	])("%j is refused", async (query) => {
		const sandbox = await by.start({ documents: 1 });
		expect(await by.list(sandbox, sandbox.datasetId ?? "", query)).toMatchObject({ status: 400, code: 400 });
	});
});

describe("filters", () => {
	test("id and name find exactly one document, and keywords find parts of names", async () => {
		const sandbox = await by.start();
		const dataset = await by.createDataset(sandbox);
		const ids = await by.upload(sandbox, dataset, "Report.txt", "report.txt", "my report.txt", "b.txt");
		expect(await by.names(sandbox, dataset, { id: ids[1] ?? "" })).toEqual(["report.txt"]);
		expect(await by.names(sandbox, dataset, { name: "Report.txt" })).toEqual(["Report.txt"]);
		expect(await by.names(sandbox, dataset, { name: "b.txt", id: ids[0] ?? "" })).toEqual([]);
		expect(await by.names(sandbox, dataset, { keywords: "REPORT", page: "2", page_size: "2" })).toEqual([
			"my report.txt",
		]);
		const none = await by.list(sandbox, dataset, { id: "unknown" });
		expect(none.data).toEqual({ total: 0, docs: [] });
		const other = await by.createDataset(sandbox, "other");
		expect(await by.names(sandbox, other, { id: ids[1] ?? "" })).toEqual([]);
	});

	test.each<[string, unknown, string]>([
		["is", "Ana", "a"],
		["not is", "Ana", "bc"],
		["contains", "n", "ab"],
		["not contains", "n", "bc"],
		["in", ["Ana", "Cy"], "ac"],
		["in", "Ana, Cy", "ac"],
		["not in", ["Ana", "Cy"], "b"],
		["start with", "B", "b"],
		["end with", "y", "c"],
		["empty", "", ""],
		["is", "ANA", "a"],
		["not empty", "", "abc"],
	])("author %s %j finds documents with such an author, and none without one", async (operator, value, expected) => {
		const { sandbox, dataset } = await withMetadata();
		const conditions = [{ name: "author", comparison_operator: operator, value }];
		expect((await by.names(sandbox, dataset, { metadata_condition: JSON.stringify({ conditions }) })).join("")).toBe(
			expected,
		);
	});

	test.each<[string, string, unknown, string]>([
		["year", ">", "9", "bc"],
		["year", "<", 10, "a"],
		["year", "≥", "10", "bc"],
		["year", "≤", "10", "ab"],
		["publish_date", ">", "2023-12-31", "bc"],
		["publish_date", "≤", "2024-01-01", "ab"],
		["__proto__", "not empty", "", "b"],
		["toString", "not empty", "", ""],
	])("%s %s %j compares numbers as numbers and dates as dates", async (name, operator, value, expected) => {
		const { sandbox, dataset } = await withMetadata();
		const conditions = [{ name, comparison_operator: operator, value }];
		expect((await by.names(sandbox, dataset, { metadata_condition: JSON.stringify({ conditions }) })).join("")).toBe(
			expected,
		);
	});

	test("conditions are joined by and, or by or with logic=or, and no condition finds every document", async () => {
		const { sandbox, dataset } = await withMetadata();
		const conditions = [
			{ name: "author", comparison_operator: "is", value: "Ana" },
			{ name: "year", comparison_operator: "is", value: 10 },
		];
		const find = async (condition: unknown, rest = {}): Promise<string> =>
			(await by.names(sandbox, dataset, { metadata_condition: JSON.stringify(condition), ...rest })).join("");
		expect(await find({ conditions })).toBe("");
		expect(await find({ logic: "or", conditions })).toBe("ab");
		expect(await find({ logic: "or", conditions }, { desc: "true" })).toBe("ba");
		expect(await find({})).toBe("abcd");
	});
});

async function withMetadata(): Promise<{ sandbox: Sandbox; dataset: string }> {
	const sandbox = await by.start();
	const dataset = await by.createDataset(sandbox);
	const ids = await by.upload(sandbox, dataset, "a", "b", "c", "d");
	const metadata = [
		'{"author":"Ana","year":9,"publish_date":"2023-05-01"}',
		'{"author":["Ben","Bob"],"year":10,"publish_date":"2024-01-01","__proto__":"x"}',
		'{"author":"Cy","year":"11","publish_date":"2024-06-30"}',
		'{"author":[]}',
	];
	for (const [index, text] of metadata.entries()) await by.put(sandbox, dataset, ids[index] ?? "", text);
	return { sandbox, dataset };
}
