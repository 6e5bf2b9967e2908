import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, releases, serve, update } from "./support.ts";

/** Uploaded by one request, so all seven have the same time. */
const seven = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt"];

describe("pages of documents with equal times", () => {
	test.each(releases)(
		"%s shows one document twice and hides another, which another page size shows",
		async (flavour) => {
			const place = await serve(flavour, seven);
			const pages = (size: string, more = {}): Promise<unknown[][]> =>
				Promise.all(["1", "2", "3", "4"].map((page) => names(place, { page, page_size: size, ...more })));
			// d is the first document after the first page, where c is shown again.
			const threes = [["a.txt", "b.txt", "c.txt"], ["c.txt", "e.txt", "f.txt"], ["g.txt"], []];
			expect(await pages("3")).toEqual(threes);
			expect(await pages("3")).toEqual(threes);
			expect((await pages("4")).flat()).toContain("d.txt");
			expect((await pages("2", { desc: "True" })).flat()).toContain("d.txt");
			const listed = await by.list(place.sandbox, place.dataset, { page: "2", page_size: "3" });
			expect(by.at(listed.data, "total")).toBe(7);
		},
	);

	test.each(releases)("%s shows every document once where ties are stable, or where none exist", async (flavour) => {
		const stable = await serve(flavour, seven, { ties: "stable" });
		const read = async (place: typeof stable, more = {}): Promise<unknown[]> =>
			(await Promise.all(["1", "2", "3"].map((page) => names(place, { page, page_size: "3", ...more })))).flat();
		expect(await read(stable)).toEqual(seven);
		const unstable = await serve(flavour, seven);
		expect(await read(unstable, { orderby: "name" })).toEqual(seven);
		expect(await read(unstable, { keywords: "txt" })).not.toContain("d.txt");
	});

	test("the documented API keeps its order, unless ties are unstable", async () => {
		const place = await serve("documented", seven);
		expect(await names(place, { page: "2", page_size: "3" })).toEqual(["d.txt", "e.txt", "f.txt"]);
		const unstable = await serve("documented", seven, { ties: "unstable" });
		expect(await names(unstable, { page: "2", page_size: "3" })).toEqual(["c.txt", "e.txt", "f.txt"]);
	});

	test.each<[number, string, number]>([
		[3, "3", 0],
		[4, "3", 1],
		[6, "3", 3],
	])("of %i documents, page 2 of size %s has %i", async (count, size, length) => {
		const place = await serve("ragflow-0.24", seven.slice(0, count));
		expect(await names(place, { page: "2", page_size: size })).toHaveLength(length);
	});
});

describe("the parameters of a list", () => {
	test.each(releases)(
		"%s lists newest first without desc=False, thirty or ten documents on a page",
		async (flavour) => {
			const sandbox = await by.start({ flavour, documents: 31 });
			const place = { sandbox, dataset: sandbox.datasetId ?? "", ids: [] };
			expect(await by.names(sandbox, place.dataset)).toHaveLength(flavour === "ragflow-1.0" ? 10 : 30);
			expect(await by.names(sandbox, place.dataset, { page_size: "1" })).toEqual(["document-0000031.txt"]);
			expect(await by.names(sandbox, place.dataset, { page_size: "1", desc: "True" })).toEqual([
				"document-0000031.txt",
			]);
			expect(await names(place, { page_size: "1" })).toEqual(["document-0000001.txt"]);
		},
	);

	test.each<[Flavour, boolean]>([
		["ragflow-0.18", false],
		["ragflow-0.21", true],
		["ragflow-0.23", true],
		["ragflow-0.24", true],
		["ragflow-0.25", true],
		["ragflow-0.26", true],
		["ragflow-0.27", true],
		["ragflow-1.0", true],
	])("%s understands desc=false: %s", async (flavour, understood) => {
		const place = await serve(flavour, seven);
		expect(await names(place, { page_size: "1", desc: "false" })).toEqual([understood ? "a.txt" : "g.txt"]);
	});

	test.each<[Flavour, number, number]>(
		releases.map((flavour) => {
			if (flavour === "ragflow-1.0") return [flavour, 0, 10];
			return flavour >= "ragflow-0.26" ? [flavour, 100, 0] : [flavour, 0, 120];
		}),
	)(
		"%s answers a page size of 101 with code %i, and a page size of 1000 with %i documents",
		async (flavour, code, length) => {
			const sandbox = await by.start({ flavour, documents: 120 });
			const dataset = sandbox.datasetId ?? "";
			expect((await by.list(sandbox, dataset, { page_size: "101" })).code).toBe(code);
			expect(await by.names(sandbox, dataset, { page_size: "1000" })).toHaveLength(length);
			expect(await by.names(sandbox, dataset, { page_size: "100" })).toHaveLength(100);
		},
	);

	test.each(releases)("%s shows the members that a client reads", async (flavour) => {
		const place = await serve(flavour);
		await update(place, flavour, '{"author":"Ana"}');
		const document = {
			id: place.ids[0],
			dataset_id: place.dataset,
			name: "a.txt",
			size: 0,
			run: "UNSTART",
			meta_fields: { author: "Ana" },
			create_time: expect.any(Number),
		};
		const listed = await by.list(place.sandbox, place.dataset);
		expect(listed.json).toMatchObject({ code: 0, data: { total: 1, docs: [document] } });
		expect(listed.message).toBe(flavour >= "ragflow-0.25" ? "success" : "undefined");
	});

	test.each(releases)(
		"%s finds documents by id and by name, and answers an unknown one with code 102",
		async (flavour) => {
			const place = await serve(flavour, seven);
			expect(await names(place, { id: place.ids[1] ?? "" })).toEqual(["b.txt"]);
			expect(await names(place, { name: "c.txt" })).toEqual(["c.txt"]);
			expect(await names(place, { name: "c.txt", id: place.ids[1] ?? "" })).toEqual([]);
			expect(await names(place, { id: "", name: "", keywords: "" })).toEqual(seven);
			for (const query of [{ id: "nobody" }, { name: "nobody" }]) {
				const answer = await by.list(place.sandbox, place.dataset, query);
				expect(answer).toMatchObject({ status: 200, code: 102 });
				const inSmall = flavour >= "ragflow-0.27";
				expect(answer.message).toBe(`${inSmall ? "y" : "Y"}ou don't own the document nobody${inSmall ? "" : "."}`);
			}
		},
	);

	test.each<[Flavour, string[]]>([
		["ragflow-0.18", ["a.txt", "b.txt"]],
		["ragflow-0.21", ["a.txt", "b.txt"]],
		["ragflow-0.23", ["a.txt"]],
		["ragflow-0.24", ["a.txt"]],
		["ragflow-0.25", ["a.txt"]],
		["ragflow-0.26", ["a.txt"]],
		["ragflow-0.27", ["a.txt"]],
		["ragflow-1.0", ["a.txt", "b.txt"]],
	])("%s filters by metadata, or ignores the filter: %j", async (flavour, found) => {
		const place = await serve(flavour, ["a.txt", "b.txt"]);
		await update(place, flavour, '{"author":"Ana"}');
		const conditions = [{ name: "author", comparison_operator: "is", value: "Ana" }];
		expect(await names(place, { metadata_condition: JSON.stringify({ conditions }) })).toEqual(found);
	});

	test.each(releases)("%s answers a parameter that is not valid with a code and status 200", async (flavour) => {
		const place = await serve(flavour);
		// v0.27 and later list their first page instead, and have a code for an unknown column.
		const [pages, column] = flavour >= "ragflow-0.27" ? [0, 101] : [100, 100];
		for (const query of [{ page: "x" }, { page_size: "x" }, { page: "-1" }, { page_size: "-1" }]) {
			const answer = await by.list(place.sandbox, place.dataset, query);
			expect(answer).toMatchObject({ status: 200, code: pages });
		}
		expect((await by.list(place.sandbox, place.dataset, { orderby: "nothing" })).code).toBe(column);
	});
});
