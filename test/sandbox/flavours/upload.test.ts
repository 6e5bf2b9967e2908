import { describe, expect, test } from "vitest";
import * as by from "../support.ts";
import { names, type Place, pythonReleases, releases, serve } from "./support.ts";

function send({ sandbox, dataset }: Place, ...parts: { head: string[]; body: string | Buffer }[]): Promise<by.Answer> {
	const sent = { headers: by.partsHeader, body: by.multipart(...parts) };
	return by.send(sandbox, "POST", by.documentsPath(dataset), sent);
}

describe("uploads", () => {
	test.each(pythonReleases)(
		"%s answers in the order of the parts, and ignores a field with metadata",
		async (flavour) => {
			const place = await serve(flavour, []);
			const field = { head: ['Content-Disposition: form-data; name="meta_fields"'], body: '{"author":"Ana"}' };
			const answer = await send(place, by.filePart("b.pdf", "two"), field, by.filePart("folder/a.txt", ""));
			expect(answer.data).toMatchObject([
				{ name: "b.pdf", size: 3, dataset_id: place.dataset, run: "UNSTART" },
				{ name: "folder/a.txt", size: 0 },
			]);
			const listed = await by.list(place.sandbox, place.dataset, { desc: "False" });
			expect(listed.data).toMatchObject({ total: 2, docs: [{ meta_fields: {}, size: 3 }, { meta_fields: {} }] });
		},
	);

	test.each(pythonReleases)(
		"%s reads %22 and an escaped quotation mark as one, and keeps folders in a name",
		async (flavour) => {
			const place = await serve(flavour, []);
			const sent = ["a%22b.txt", 'c\\"d.txt', "x/y.txt", "x/y.txt"];
			const answer = await send(place, ...sent.map((name) => by.filePart(name, "x")));
			// A numbered name loses its folders, because the server reads it as a path: not yet in v0.18.
			const numbered = flavour === "ragflow-0.18" ? "x/y(1).txt" : "y(1).txt";
			const stored = ['a"b.txt', 'c"d.txt', "x/y.txt", numbered];
			expect(answer.data).toMatchObject(stored.map((name) => ({ name })));
		},
	);

	test.each(pythonReleases)("%s makes two documents of a file that is sent twice", async (flavour) => {
		const place = await serve(flavour, ["a.txt", "a.txt"]);
		await by.upload(place.sandbox, place.dataset, "a.txt", "a(1).txt", "b.tar.md");
		await by.upload(place.sandbox, place.dataset, "b.tar.md");
		expect(await names(place)).toEqual(["a.txt", "a(1).txt", "a(2).txt", "a(3).txt", "b.tar.md", "b.tar(1).md"]);
	});

	test.each(releases)("%s stores nothing of an upload without files, or to a missing dataset", async (flavour) => {
		const place = await serve(flavour, []);
		const field = { head: ['Content-Disposition: form-data; name="file"'], body: "no file" };
		expect(await send(place, field)).toMatchObject({ code: 101, message: "No file part!" });
		// Go takes a part without a file's name for a field.
		if (flavour !== "ragflow-1.0")
			expect(await send(place, by.filePart("a.txt", "x"), by.filePart("", "x"))).toMatchObject({ code: 101 });
		const path = by.documentsPath(place.dataset);
		expect(await by.send(place.sandbox, "POST", path, { headers: by.jsonHeader, body: "{}" })).toMatchObject({
			code: 101,
		});
		expect(await names(place)).toEqual([]);
		const nowhere = await send({ ...place, dataset: "nowhere" }, by.filePart("a.txt", "x"));
		expect(nowhere).toMatchObject({ status: 200, code: flavour >= "ragflow-0.25" ? 102 : 100 });
	});
});
