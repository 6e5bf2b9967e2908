import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, releases, serve } from "./support.ts";

/** Uploaded by one request, so all seven have the same time. */
const seven = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt"];

describe("pages of documents with equal times", () => {
	test.each(releases)("%s shows a document twice and hides one that another page size shows", async (flavour) => {
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
	});

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
	test.each(releases)("%s lists newest first without desc=False, thirty or ten on a page", async (flavour) => {
		const sandbox = await by.start({ flavour, documents: 31 });
		const place = { sandbox, dataset: sandbox.datasetId ?? "", ids: [] };
		expect(await by.names(sandbox, place.dataset)).toHaveLength(flavour === "ragflow-1.0" ? 10 : 30);
		expect(await by.names(sandbox, place.dataset, { page_size: "1" })).toEqual(["document-0000031.txt"]);
		expect(await by.names(sandbox, place.dataset, { page_size: "1", desc: "True" })).toEqual(["document-0000031.txt"]);
		expect(await names(place, { page_size: "1" })).toEqual(["document-0000001.txt"]);
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
});
