import { describe, expect, test } from "vitest";
import { collationKey } from "../../../src/sandbox/store/collation.ts";
import * as by from "../support.ts";
import { names, putReleases, pythonReleases, releases, serve, stored, update } from "./support.ts";

test.each([
	["A.TXT", "a.txt", true],
	["Résumé.txt", "resume.TXT", true],
	["a.txt ", "a.txt", true],
	["straße", "STRASSE", true],
	["Ａ.txt", "a.txt", true],
	["e\u0301", "é", true],
	[" a.txt", "a.txt", false],
	["a.txt\t.", "a.txt", false],
	["a-b", "ab", false],
	["a b", "ab", false],
])("the collation finds %j and %j equal: %s", (one, other, are) => {
	expect(collationKey(one) === collationKey(other)).toBe(are);
});

describe("names and ids are compared by the database's collation", () => {
	test.each(pythonReleases)("%s numbers a file whose name is equal to another's", async (flavour) => {
		const place = await serve(flavour, ["a.txt", "A.TXT", "résumé.txt", "Resume.txt"]);
		expect(await names(place)).toEqual(["a.txt", "A(1).TXT", "résumé.txt", "Resume(1).txt"]);
		expect(await names(place, { name: "A.TXT" })).toEqual(["a.txt"]);
		expect(await names(place, { name: "RÉSUMÉ.TXT " })).toEqual(["résumé.txt"]);
		expect(await names(place, { keywords: "RESUME" })).toEqual(["résumé.txt", "Resume(1).txt"]);
	});

	test.each(releases)("%s finds and updates a document by its id in the other case", async (flavour) => {
		const place = await serve(flavour);
		const [id = ""] = place.ids;
		const loud = { ...place, ids: [id.toUpperCase()] };
		const answer = await update(loud, flavour, '{"author":"Ana"}');
		expect(answer.code).toBe(0);
		if (flavour >= "ragflow-0.21") expect(by.at(answer.data, "id")).toBe(id);
		// v1.0 writes the metadata under the id as it is sent, and no list shows it.
		expect(await stored(place)).toBe(flavour === "ragflow-1.0" ? "{}" : '{"author":"Ana"}');
		expect(await names(loud, { id: id.toUpperCase() })).toEqual(["a.txt"]);
		expect(await names({ ...place, dataset: place.dataset.toUpperCase() })).toEqual(["a.txt"]);
	});

	test.each([...putReleases, "ragflow-0.25"] as const)("%s removes one by an id in the other case", async (flavour) => {
		const place = await serve(flavour);
		const loud = (place.ids[0] ?? "").toUpperCase();
		const path = by.documentsPath(place.dataset.toUpperCase());
		const body = JSON.stringify({ ids: [place.ids[0], loud] });
		// The server takes them as two ids; the first one removes the document.
		const answer = await by.send(place.sandbox, "DELETE", path, { headers: by.jsonHeader, body });
		expect(answer).toMatchObject({ code: 102, message: `Documents not found: ['${loud}']` });
		expect(await names(place)).toEqual([]);
	});

	test.each(["ragflow-0.26", "ragflow-0.27"] as const)("%s removes a document by its exact id", async (flavour) => {
		const place = await serve(flavour);
		const body = JSON.stringify({ ids: [(place.ids[0] ?? "").toUpperCase()] });
		const path = by.documentsPath(place.dataset);
		expect((await by.send(place.sandbox, "DELETE", path, { headers: by.jsonHeader, body })).code).toBe(102);
		expect(await names(place)).toEqual(["a.txt"]);
	});

	test.each(releases)("%s has no two datasets with equal names", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		const body = '{"name":"PAPERS "}';
		const again = await by.send(sandbox, "POST", "/api/v1/datasets", { headers: by.jsonHeader, body });
		if (flavour < "ragflow-0.23") expect(again.code).toBe(flavour === "ragflow-0.18" ? 102 : 103);
		else expect(again.data).toMatchObject({ name: "PAPERS(1)" });
		const found = await by.send(sandbox, "GET", "/api/v1/datasets?name=PAP%C3%89RS");
		expect(found.data).toMatchObject([{ name: "papers" }]);
	});

	test("the documented flavour compares names and ids exactly", async () => {
		const place = await serve("documented", ["a.txt", "A.TXT"]);
		expect(await names(place, { name: "A.TXT" })).toEqual(["A.TXT"]);
		expect((await update({ ...place, ids: [(place.ids[0] ?? "").toUpperCase()] }, "documented", "{}")).code).toBe(404);
	});
});
