import { describe, expect, it } from "vitest";
import type { Document, DocumentQuery } from "../../../src/rest/types.ts";
import { findDocument } from "../../../src/run/documents/find-document.ts";
import { findNamesakes } from "../../../src/run/documents/find-named.ts";
import { allDatasets } from "../../../src/run/documents/pages.ts";
import { allDocuments, type ShortList } from "../../../src/run/documents/list.ts";
import { CliError, Exit } from "../../../src/errors.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { failure } from "../harness.ts";
import { type OddList, oddList } from "./odd-list.ts";

type ListOptions = NonNullable<Parameters<typeof allDocuments>[1]>;

type Listed = { readonly ids: string[]; readonly asked: DocumentQuery[]; readonly short: ShortList | undefined };

const datasetOf = (odd: OddList) => ({ api: oddList(odd), request: direct, datasetId: "set" });

async function list(odd: OddList, options: ListOptions = {}, request = direct): Promise<Listed> {
	const asked: DocumentQuery[] = [];
	const ids: string[] = [];
	let short: ShortList | undefined;
	const documents = allDocuments(
		{ api: oddList(odd, asked), request, datasetId: "set" },
		{
			...options,
			onShort: (list) => (short = list),
		},
	);
	for await (const { id } of documents) ids.push(id);
	return { ids, asked, short };
}

const every = (count: number): string[] => range(count).map(String);
const byNumber = (ids: readonly string[]): string[] => ids.toSorted((left, right) => Number(left) - Number(right));
const tooLarge = (most: number) => (query: DocumentQuery) => {
	if ((query.pageSize ?? 30) > most) throw failure("rejected", { code: "CODE_101" });
};

const noOrder = (query: DocumentQuery): void => {
	if (query.order !== undefined) throw failure("rejected", { code: "CODE_101" });
};

const isEven = ({ page }: DocumentQuery): boolean => page % 2 === 0;

/** What is odd, and in how many requests all 250 documents are seen none the less. */
const mended: readonly (readonly [string, Partial<OddList>, number])[] = [
	["nothing at all: a short last page is the end", {}, 3],
	["no total", { total: () => undefined }, 4],
	["a total that is too low", { total: () => 120 }, 4],
	["a total that counts the page alone", { total: (_, { page }) => (page === 3 ? 50 : 100) }, 4],
	[
		"gaps, and behind the end a total of nothing",
		{
			cap: { size: 10, startsBy: "asked" },
			total: (honest, { page, pageSize = 30 }) => ((page - 1) * pageSize < honest ? honest : 0),
		},
		4 + 25,
	],
	["pages cut to 10, one after another", { cap: { size: 10, startsBy: "given" } }, 25],
	["pages cut to 10, with gaps between them", { cap: { size: 10, startsBy: "asked" } }, 4 + 25],
	["pages over 30 refused", { refuse: tooLarge(30) }, 1 + 9],
	["pages over 10 refused", { refuse: tooLarge(10) }, 2 + 25],
	["a page that comes empty once", { page: (page, query) => (hides(query, false) ? [] : page) }, 2 + 3],
	["the first page once more", { page: (page, query) => (hides(query, false) ? again(page) : page) }, 2 + 3],
	["documents named twice in a page", { page: (page) => [...page, ...page.slice(0, 5)] }, 3],
	[
		"a document that equal times hide, oldest first",
		{ page: (page, q) => (hides(q, false) ? page.slice(1) : page) },
		7,
	],
	[
		"documents that equal times hide by time of creation",
		{ page: (page, query) => (query.order?.by === "create_time" && isEven(query) ? page.slice(1) : page) },
		4 + 4 + 3,
	],
];

function again(page: readonly Document[]): readonly Document[] {
	return page.map(({ id }) => documentOf(`${Number(id) - 100}`));
}

function hides(query: DocumentQuery, descending: boolean): boolean {
	return query.order?.descending === descending && isEven(query);
}

describe("every document is listed once, whatever the service's list does wrong", () => {
	it.each(mended)("%s", async (_, odd, requests) => {
		const { ids, asked, short } = await list({ documents: 250, ...odd });
		expect(byNumber(ids)).toEqual(every(250));
		expect(short).toBeUndefined();
		expect(asked).toHaveLength(requests);
	});

	it.each([
		["documented", 251],
		["ragflow-put", 250],
		["ragflow-patch", 250],
	])("25,000 documents, from a service of flavour %s, in %d requests", async (name, requests) => {
		const { ids, asked, short } = await list({ documents: 25_000, flavour: name });
		expect(ids).toEqual(every(25_000));
		expect(short).toBeUndefined();
		expect(asked).toHaveLength(requests);
		expect(asked.every(({ order }) => (order === undefined) === (name === "documented"))).toBe(true);
	});

	it.each([
		["", 0, 1],
		[" of one page that is not full", 37, 1],
		// A total of exactly one page may count that page alone.
		[" of one full page", 100, 2],
		[" of full pages", 200, 2],
	])("a list%s of a service whose totals count all documents ends with the last", async (_, documents, requests) => {
		expect(await list({ documents })).toMatchObject({ ids: every(documents), asked: { length: requests } });
	});

	it("and in the releases whose total counts the page alone, none is lost", async () => {
		const total: OddList["total"] = (honest, { page, pageSize = 30 }) =>
			Math.max(0, Math.min(pageSize, honest - (page - 1) * pageSize));
		for (const documents of [37, 100, 130, 200, 250]) {
			expect((await list({ documents, total, flavour: "ragflow-put" })).ids).toEqual(every(documents));
		}
	});

	it("including documents that moved up while others were removed, which the total does not show", async () => {
		// The first is gone when the second page is read, so that what was the 101st is behind nobody's back.
		const has = ({ id }: { id: string }, request: number): boolean => request < 2 || id !== "0";
		const { ids, short } = await list({ documents: 250, has });
		expect(byNumber(ids)).toEqual(every(250));
		expect(short).toBeUndefined();
	});

	it("an error of the service is reported once, in the service's words", async () => {
		let refusals = 0;
		const refuse = (): never => {
			throw failure("rejected", { code: `CODE_${++refusals}` });
		};
		await expect(list({ documents: 1, refuse })).rejects.toMatchObject({ code: "CODE_1" });
		expect(refusals).toBe(4);
	});

	it.each(["NOT_FOUND", "FORBIDDEN"])("no second request follows the answer %s", async (code) => {
		let requests = 0;
		const refuse = (): never => {
			requests += 1;
			throw failure("rejected", { code });
		};
		await expect(list({ documents: 1, refuse })).rejects.toMatchObject({ code });
		expect(requests).toBe(1);
	});

	it("a refused page size is recognised also through a command's retries", async () => {
		const request: typeof direct = (call) =>
			call().catch((error: unknown) => {
				throw new CliError("refused", { exit: Exit.failedRows, cause: error });
			});
		expect((await list({ documents: 40, refuse: tooLarge(30) }, {}, request)).ids).toEqual(every(40));
	});
});

describe("a list that stays too short reports it after all entries", () => {
	it.each<[string, Partial<OddList>, number]>([
		["RAGFlow has four orders", {}, 6],
		["the documented API has its own and two more", { flavour: "documented" }, 5],
		["one that refuses orders has its own alone", { flavour: "documented", refuse: noOrder }, 3],
	])("%s", async (_, odd, passes) => {
		const { ids, short } = await list({ documents: 250, total: (honest) => honest + 3, ...odd });
		expect(ids).toEqual(every(250));
		expect(short).toEqual({ shown: 250, total: 253, passes });
	});

	it("reports no loss for documents that were removed while it was read", async () => {
		const has = ({ id }: { id: string }, request: number): boolean => request < 3 || Number(id) < 220;
		expect((await list({ documents: 250, has })).short).toBeUndefined();
	});

	it("reports the service's words if a page in the middle is refused in every order", async () => {
		const refuse = ({ page }: DocumentQuery): void => {
			if (page > 1) throw failure("rejected", { code: "TOO_DEEP" });
		};
		await expect(list({ documents: 250, refuse })).rejects.toMatchObject({ code: "TOO_DEEP" });
		expect(byNumber((await list({ documents: 200, refuse })).ids)).toEqual(every(200));
	});
});

describe("a list whose pages never end is stopped once it has shown far more than its first total", () => {
	const endless =
		(documents: number) =>
		(_: readonly Document[], { page, pageSize = 30 }: DocumentQuery) =>
			range(documents === 0 ? pageSize : documents).map((n) => documentOf(`${page}-${n}`));

	it.each<[string, NonNullable<OddList["total"]>]>([
		["of a dataset", () => 550],
		["with a total that grows with each page", (_, { page }) => 550 * page],
		["with a total that counts each page alone", () => 100],
	])("%s", async (_, total) => {
		const { ids, asked, short } = await list({ documents: 200, page: endless(0), total });
		expect(ids.length).toBeGreaterThan(100_000);
		expect(ids.length).toBeLessThan(500_000);
		expect(asked.length).toBeLessThan(5_000);
		expect(short).toMatchObject({ shown: ids.length });
	});

	it("also for datasets", async () => {
		const api = fakeApi([], {
			listDatasets: ({ page }) =>
				Promise.resolve({
					items: range(1_000).map((n) => ({ id: `${page}-${n}`, name: "x", documentCount: 0 })),
					total: 1_000 * page,
				}),
		});
		let names = 0;
		const datasets = async (): Promise<void> => {
			for await (const _ of allDatasets(api, direct)) names += 1;
		};
		await expect(datasets()).rejects.toMatchObject({ code: "INCOMPLETE_LIST" });
		expect(names).toBeLessThan(110_000);
	});

	it("a list with too small a total, or that grows while it is read, is read to its end", async () => {
		for (const total of [() => 1_100, (_: number, { page }: DocumentQuery) => page * 100, () => 0, () => undefined]) {
			const { ids } = await list({ documents: 3_000, total, flavour: "documented" });
			expect(ids.length).toBe(3_000);
		}
	});
});

describe("pages that the total promises are asked for ahead", () => {
	/** The most pages that were in flight at a time, when `wanted` documents were taken of `documents`. */
	async function inFlight(documents: number, wanted: number, options: ListOptions = {}) {
		const asked: DocumentQuery[] = [];
		const api = oddList({ documents }, asked);
		let [now, most, failed] = [0, 0, false];
		const request: typeof direct = async (call) => {
			most = Math.max(most, (now += 1));
			await new Promise(setImmediate);
			const answer = await call().finally(() => (now -= 1));
			failed ||= now < 0;
			return answer;
		};
		const ids: string[] = [];
		for await (const { id } of allDocuments({ api, request, datasetId: "set" }, options)) {
			ids.push(id);
			if (ids.length === wanted) break;
		}
		expect([ids, failed]).toEqual([every(wanted), false]);
		return { most, asked: asked.length };
	}

	it("so that a long list does not wait for each page in turn, and no page is asked for twice or in vain", async () => {
		expect(await inFlight(2_000, 2_000)).toEqual({ most: 4, asked: 20 });
	});

	it("but hardly any for a caller who stops early", async () => {
		expect(await inFlight(2_000, 100)).toEqual({ most: 1, asked: 1 });
		expect((await inFlight(2_000, 300)).asked).toBeLessThan(5);
		expect((await inFlight(2_000, 700)).asked).toBeLessThan(11);
	});

	it("and a refusal of one of them is reported as if they had come in turn", async () => {
		const refuse = ({ page }: DocumentQuery): void => {
			if (page === 7) throw failure("untrusted", { code: "KEY_REFUSED" });
		};
		const ids: string[] = [];
		const read = async (): Promise<void> => {
			for await (const { id } of allDocuments(datasetOf({ documents: 2_000, refuse }))) ids.push(id);
		};
		await expect(read()).rejects.toMatchObject({ code: "KEY_REFUSED" });
		expect(ids).toEqual(every(600));
	});
});

describe("documents by name", () => {
	const heeds: OddList["filter"] = ({ name }, query) => query.name === undefined || query.name === name;
	const named = async (odd: Partial<OddList>): Promise<{ readonly ids: string[]; readonly asked: DocumentQuery[] }> => {
		const asked: DocumentQuery[] = [];
		const api = oddList({ documents: 250, ...odd }, asked);
		const found = await findNamesakes({ api, request: direct, datasetId: "set" }, "7.txt");
		return { ids: found.map(({ id }) => id), asked };
	};

	it("are asked for once, also if the total is that of the whole dataset", async () => {
		const { ids, asked } = await named({ filter: heeds, total: () => 250 });
		expect([ids, asked.map(({ page, name }) => [page, name])]).toEqual([["7"], [[1, "7.txt"]]]);
	});

	it.each<[string, Partial<OddList>, number]>([
		["refuses names", { refuse: refuseNames }, 1],
		["ignores names, and has gaps", { cap: { size: 10, startsBy: "asked" } }, 1],
		["shows a whole page of them", { page: (items) => items.map((item) => ({ ...item, name: "7.txt" })) }, 250],
	])("are found in the whole list if the service %s", async (_, odd, count) => {
		expect((await named(odd)).ids).toHaveLength(count);
	});
	function refuseNames({ name }: DocumentQuery): void {
		if (name !== undefined) throw failure("rejected", { code: "CODE_101" });
	}
});

describe("a document that the service denies", () => {
	const denied = (status: number) => (query: DocumentQuery) => {
		if (query.id !== undefined) throw failure("rejected", { code: "NOT_FOUND", status });
	};

	it("is absent from the list of the dataset", async () => {
		const asked: DocumentQuery[] = [];
		const api = oddList({ documents: 3, refuse: denied(200) }, asked);
		expect(await findDocument({ api, request: direct, datasetId: "set" }, "1")).toBeUndefined();
		expect(asked).toHaveLength(1);
	});

	it("is checked in the whole list after a bare 404, or a file would be uploaded twice", async () => {
		expect(await findDocument(datasetOf({ documents: 3, refuse: denied(404) }), "1")).toBeDefined();
		expect(await findDocument(datasetOf({ documents: 3, refuse: denied(404) }), "9")).toBeUndefined();
		const refuse = (): never => {
			throw failure("rejected", { code: "NOT_FOUND", status: 404 });
		};
		await expect(findDocument(datasetOf({ documents: 3, refuse }), "1")).rejects.toMatchObject({
			code: "NOT_FOUND",
		});
	});
});
