import { expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, type Place, putReleases, releases, serve } from "./support.ts";

// What test/sandbox/rules/ can't hold: another dataset.

const files = ["a.txt", "b.txt", "c.txt"];

async function twoDatasets(flavour: Flavour): Promise<{ place: Place; other: Place }> {
	const place = await serve(flavour, files);
	const dataset = await by.createDataset(place.sandbox, "other");
	return { place, other: { ...place, dataset, ids: await by.upload(place.sandbox, dataset, "elsewhere.txt") } };
}

function remove({ sandbox, dataset }: Place, body: object): Promise<by.Answer> {
	const sent = { headers: by.jsonHeader, body: JSON.stringify(body) };
	return by.send(sandbox, "DELETE", by.documentsPath(dataset), sent);
}

test.each(putReleases)("%s removes every document of this dataset alone for an empty object", async (flavour) => {
	const { place, other } = await twoDatasets(flavour);
	expect(await remove(place, {})).toMatchObject({ status: 200, code: 0 });
	expect([await names(place), await names(other)]).toEqual([[], ["elsewhere.txt"]]);
	const { data } = await by.send(place.sandbox, "GET", "/api/v1/datasets?desc=False");
	expect([by.at(data, 0, "document_count"), by.at(data, 1, "document_count")]).toEqual([0, 1]);
});

test.each<[Flavour, number, boolean]>(
	releases.map((flavour) => (flavour >= "ragflow-0.26" ? [flavour, 102, false] : [flavour, 0, true])),
)("%s answers an id of another dataset with code %i, and removes that document: %s", async (flavour, code, gone) => {
	const { place, other } = await twoDatasets(flavour);
	expect((await remove(place, { ids: other.ids })).code).toBe(code);
	expect([await names(place), await names(other)]).toEqual([files, gone ? [] : ["elsewhere.txt"]]);
});
