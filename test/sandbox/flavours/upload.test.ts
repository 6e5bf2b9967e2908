import { describe, expect, test } from "vitest";
import * as by from "../support.ts";
import { type Place, pythonReleases, serve } from "./support.ts";

function send({ sandbox, dataset }: Place, ...parts: { head: string[]; body: string | Buffer }[]): Promise<by.Answer> {
	const sent = { headers: by.partsHeader, body: by.multipart(...parts) };
	return by.send(sandbox, "POST", by.documentsPath(dataset), sent);
}

describe("uploads", () => {
	test.each(pythonReleases)("%s answers in the order of the parts, without a field of metadata", async (flavour) => {
		const place = await serve(flavour, []);
		const field = { head: ['Content-Disposition: form-data; name="meta_fields"'], body: '{"author":"Ana"}' };
		const answer = await send(place, by.filePart("b.pdf", "two"), field, by.filePart("folder/a.txt", ""));
		expect(answer.data).toMatchObject([
			{ name: "b.pdf", size: 3, dataset_id: place.dataset, run: "UNSTART" },
			{ name: "folder/a.txt", size: 0 },
		]);
		const listed = await by.list(place.sandbox, place.dataset, { desc: "False" });
		expect(listed.data).toMatchObject({ total: 2, docs: [{ meta_fields: {}, size: 3 }, { meta_fields: {} }] });
	});

	test.each(pythonReleases)("%s reads %22 and an escaped quotation mark as one, and keeps folders", async (flavour) => {
		const place = await serve(flavour, []);
		const sent = ["a%22b.txt", 'c\\"d.txt', "x/y.txt", "x/y.txt"];
		const answer = await send(place, ...sent.map((name) => by.filePart(name, "x")));
		// A numbered name loses its folders, because the server reads it as a path: not yet in v0.18.
		const numbered = flavour === "ragflow-0.18" ? "x/y(1).txt" : "y(1).txt";
		const stored = ['a"b.txt', 'c"d.txt', "x/y.txt", numbered];
		expect(answer.data).toMatchObject(stored.map((name) => ({ name })));
	});
});
