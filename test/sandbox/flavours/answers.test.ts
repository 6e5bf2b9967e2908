import { describe, expect, test } from "vitest";
import * as by from "../support.ts";
import { releases, serve } from "./support.ts";

const datasets = "/api/v1/datasets";

describe("a mistyped address", () => {
	test.each(releases)("%s answers paths outside the API with an HTML page and status 200", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		for (const path of ["/", "/v1/datasets", "/datasets", "/apis"]) {
			const response = await fetch(`${sandbox.url}${path}`, { headers: { authorization: `Bearer ${sandbox.key}` } });
			expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html"]);
			expect(await response.text()).toMatch(/^<!doctype html>/);
		}
	});
});

describe("datasets", () => {
	test.each(releases)("%s lists datasets newest first, and filters them by id and by name", async (flavour) => {
		const { sandbox, dataset: papers } = await serve(flavour);
		const books = await by.createDataset(sandbox, "books");
		const find = (query: string): Promise<by.Answer> => by.send(sandbox, "GET", `${datasets}?${query}`);
		const both = [
			{ id: books, name: "books", document_count: 0 },
			{ id: papers, name: "papers", document_count: 1 },
		];
		expect((await find("")).data).toMatchObject(both);
		expect((await find("")).message).toBe("undefined");
		if (flavour !== "ragflow-1.0")
			expect(by.at((await find("")).json, "total_datasets")).toBe(flavour === "ragflow-0.18" ? undefined : 2);
		expect((await find("desc=False")).data).toMatchObject(both.toReversed());
		expect((await find(`id=${papers}`)).data).toMatchObject(both.slice(1));
		expect((await find("name=books")).data).toMatchObject(both.slice(0, 1));
		expect((await find("page=2&page_size=1")).data).toMatchObject(both.slice(1));
		expect((await find("page=3&page_size=1")).data).toEqual([]);
	});
});
