import { describe, expect, it } from "vitest";
import type { Dataset, Page } from "../../../src/rest/types.ts";
import { findDocument } from "../../../src/run/documents/find-document.ts";
import { allDatasets } from "../../../src/run/documents/pages.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";

/** The ids of a service's datasets, in pages that a function gives. */
function datasets(page: (number: number) => { readonly ids: readonly string[]; readonly total: number | undefined }) {
	const listDatasets = async (query: { readonly page: number }): Promise<Page<Dataset>> => {
		const { ids, total } = page(query.page);
		return { items: ids.map((id) => ({ id, name: id, documentCount: 0 })), total };
	};
	return allDatasets(fakeApi([], { listDatasets }), direct);
}

async function read(pages: readonly (readonly string[])[]): Promise<{ ids: string[]; asked: number }> {
	let asked = 0;
	const entries = datasets((page) => {
		asked = page;
		return { ids: pages[page - 1] ?? [], total: 3 };
	});
	const ids: string[] = [];
	for await (const { id } of entries) ids.push(id);
	return { ids, asked };
}

describe("a list in pages", () => {
	it.each([
		["nothing", [], [], 1],
		["one page", [["a", "b"]], ["a", "b"], 2],
		["short pages, where a wrong total says the list is over", [["a"], ["b", "c"], ["d"]], ["a", "b", "c", "d"], 4],
		[
			"pages that shifted while they were read",
			[
				["a", "b"],
				["b", "c"],
			],
			["a", "b", "c"],
			3,
		],
		["an entry twice in one page", [["a", "a"]], ["a"], 2],
		[
			"a service that ignores the page",
			[
				["a", "b"],
				["a", "b"],
				["a", "b"],
				["a", "b"],
			],
			["a", "b"],
			2,
		],
	])("gives every entry once: %s", async (_, pages, ids, asked) => {
		expect(await read(pages)).toEqual({ ids, asked });
	});

	it("requests no page that is not needed", async () => {
		let asked = 0;
		for await (const entry of datasets((page) => {
			asked = page;
			return { ids: [`${page}`], total: undefined };
		})) {
			if (entry.id === "3") break;
		}
		expect(asked).toBe(3);
	});
});

describe("finding one document", () => {
	const listing = (calls: string[], honoursId: boolean) =>
		fakeApi(calls, {
			listDocuments: (_, { id, page }) => {
				const pages = [["a", "b"], ["c"]];
				const shown =
					honoursId && id !== undefined ? pages.flat().filter((each) => each === id) : (pages[page - 1] ?? []);
				return Promise.resolve({ items: shown.map((each) => documentOf(each)), total: 3 });
			},
		});

	it.each([
		["a", true, 1],
		["c", true, 1],
		["z", true, 1],
		["a", false, 1],
		["c", false, 3],
		["z", false, 4],
	])("%s, id honoured: %s, with %d requests", async (id, honours, requests) => {
		const calls: string[] = [];
		const found = await findDocument({ api: listing(calls, honours), request: direct, datasetId: "set" }, id);
		expect(found?.id).toBe(id === "z" ? undefined : id);
		expect(calls).toHaveLength(requests);
	});
});
