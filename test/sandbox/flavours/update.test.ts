import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { patchReleases, putReleases, pythonPatchReleases, releases, serve, stored, update } from "./support.ts";

const before = '{"author":"Ben"}';
const metadata = '{"author":"Ana"}';
const body = `{"meta_fields":${metadata}}`;
const part = by.multipart({ head: by.updatePart, body });

const forms = {
	json: { headers: by.jsonHeader, body },
	plain: { headers: by.plainHeader, body },
	part: { headers: by.partsHeader, body: part },
};

describe("some answers report a success that changed nothing", () => {
	test.each<[Flavour, keyof typeof forms, number, boolean]>([
		["ragflow-0.18", "json", 0, true],
		["ragflow-0.18", "plain", 0, true],
		["ragflow-0.18", "part", 100, false],
		["ragflow-0.21", "json", 0, true],
		["ragflow-0.21", "plain", 0, true],
		["ragflow-0.21", "part", 100, false],
		["ragflow-0.23", "json", 0, true],
		["ragflow-0.23", "plain", 0, true],
		// A success that changes nothing.
		["ragflow-0.23", "part", 0, false],
		["ragflow-0.24", "json", 0, true],
		["ragflow-0.24", "plain", 100, false],
		["ragflow-0.24", "part", 100, false],
		...pythonPatchReleases.flatMap((flavour): [Flavour, keyof typeof forms, number, boolean][] => [
			[flavour, "json", 0, true],
			[flavour, "plain", 100, false],
			[flavour, "part", 100, false],
		]),
		["ragflow-1.0", "json", 0, true],
		["ragflow-1.0", "plain", 0, true],
		["ragflow-1.0", "part", 102, false],
	])("%s answers the %s form with code %i, and changes the metadata: %s", async (flavour, form, code, changed) => {
		const place = await serve(flavour);
		await update(place, flavour, before);
		expect(await update(place, flavour, "", forms[form])).toMatchObject({ status: 200, code });
		expect(await stored(place)).toBe(changed ? metadata : before);
	});
});

describe("what an update does to the present metadata", () => {
	test.each(releases.filter((flavour) => flavour !== "ragflow-0.24"))(
		"%s replaces all of it, and an empty object clears it",
		async (flavour) => {
			const place = await serve(flavour);
			await update(place, flavour, '{"author":"Ana","category":"a"}');
			await update(place, flavour, '{ "category" : "b" }');
			expect(await stored(place)).toBe('{"category":"b"}');
			await update(place, flavour, "{}");
			expect(await stored(place)).toBe("{}");
		},
	);

	test.each<[Flavour, boolean]>(releases.map((flavour) => [flavour, flavour >= "ragflow-0.24"]))(
		"%s splits text in lists: %s",
		async (flavour, splits) => {
			const place = await serve(flavour);
			const odd = '["a, b;c","d|e","f，g；h、i"," a ","",1,true,1]';
			// v1.0 takes no boolean.
			const sent = flavour === "ragflow-1.0" ? odd.replace("true", "1.0") : odd;
			const lists = `{"plain":"a, b;c|d","list":${sent},"empty":[]}`;
			// In Python 1 equals true; later releases compare items as they are printed, and v1.0 by type and value.
			const last = flavour === "ragflow-0.24" || flavour === "ragflow-1.0" ? "1" : "1,true";
			const split = `{"plain":"a, b;c|d","list":["a","b","c","d","e","f","g","h","i","",${last}],"empty":[]}`;
			// A search engine takes other types under a key that was text first.
			await update(place, flavour, '{"plain":"text","list":"text"}');
			expect((await update(place, flavour, lists)).code).toBe(0);
			expect(await stored(place)).toBe(splits ? split : lists);
		},
	);

	test.each(putReleases)("%s accepts any object, and keeps its keys in their order", async (flavour) => {
		const place = await serve(flavour);
		const odd = '{"z":{"b":[1,{}],"a":null},"10":12345678901234567890,"9":null,"__proto__":{"x":1}}';
		// A search engine has no type for so large a number.
		const sent = flavour === "ragflow-0.24" ? odd.replace(/\d{20}/, "1").replace("[1,{}]", "[1]") : odd;
		expect((await update(place, flavour, sent)).code).toBe(0);
		expect((await by.list(place.sandbox, place.dataset)).text).toContain(`"meta_fields":${sent},`);
	});

	test.each(patchReleases)("%s keeps the present metadata where it refuses the new", async (flavour) => {
		const place = await serve(flavour);
		await update(place, flavour, before);
		await update(place, flavour, '{"a":{"b":1}}');
		expect(await stored(place)).toBe(before);
	});
});

describe("what an update answers", () => {
	test("ragflow-0.18 answers code 0 and nothing else", async () => {
		const place = await serve("ragflow-0.18");
		expect((await update(place, "ragflow-0.18", metadata)).text).toBe('{"code":0}');
	});

	test.each<[Flavour, boolean]>([
		["ragflow-0.21", true],
		["ragflow-0.23", true],
		["ragflow-0.24", false],
		["ragflow-0.25", false],
		["ragflow-0.26", false],
		["ragflow-0.27", false],
	])("%s answers with the document, with its metadata: %s", async (flavour, told) => {
		const place = await serve(flavour);
		const answer = await update(place, flavour, metadata);
		expect(answer.data).toMatchObject({ id: place.ids[0], dataset_id: place.dataset, name: "a.txt" });
		expect(by.at(answer.data, "meta_fields")).toEqual(told ? { author: "Ana" } : undefined);
	});
});

describe("keys that may not update", () => {
	test.each(releases)("%s lets a member do all but update: that is a missing dataset", async (flavour) => {
		const place = await serve(flavour, ["a.txt", "b.txt"], { memberKey: "member-key" });
		const asMember = { key: "member-key" };
		const refused = await update(place, flavour, metadata, { headers: by.jsonHeader, body, ...asMember });
		expect(refused).toMatchObject({ status: 200, code: 102 });
		expect(refused.message).toMatch(/you don't own the dataset/i);
		expect(await stored(place)).toBe("{}");
		const documents = by.documentsPath(place.dataset);
		const ids = JSON.stringify({ ids: [place.ids[1]] });
		const more = { headers: by.partsHeader, body: by.multipart(by.filePart("c.txt", "")) };
		expect((await by.send(place.sandbox, "POST", documents, { ...more, ...asMember })).code).toBe(0);
		const removal = { headers: by.jsonHeader, body: ids, ...asMember };
		expect((await by.send(place.sandbox, "DELETE", documents, removal)).code).toBe(0);
		const listed = await by.send(place.sandbox, "GET", `${documents}?desc=False`, asMember);
		expect([by.at(listed.data, "docs", 0, "name"), by.at(listed.data, "docs", 1, "name")]).toEqual(["a.txt", "c.txt"]);
	});
});
