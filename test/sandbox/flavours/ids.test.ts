import { expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { serve } from "./support.ts";

async function asked(flavour: Flavour, query: (ids: readonly string[]) => string): Promise<by.Answer> {
	const { sandbox, dataset, ids } = await serve(flavour, ["a.txt", "b.txt", "c.txt"]);
	return by.send(sandbox, "GET", `${by.documentsPath(dataset)}?desc=False&${query(ids)}`);
}

const shown = ({ data }: by.Answer): unknown => {
	const docs = by.at(data, "docs");
	return Array.isArray(docs) ? docs.map((document: unknown) => by.at(document, "name")) : docs;
};

test.each(["ragflow-0.26", "ragflow-0.27"] as const)(
	"%s lists the documents that ids names, in its own order, and leaves out what is not there",
	async (flavour) => {
		const answer = await asked(flavour, ([a, , c]) => `ids=${c}&ids=unknown&ids=${a?.toUpperCase()}&ids=${c}`);
		expect([shown(answer), by.at(answer.data, "total")]).toEqual([["a.txt", "c.txt"], 2]);
	},
);

test.each(["ragflow-0.18", "ragflow-0.24", "ragflow-0.25"] as const)("%s ignores ids", async (flavour) => {
	expect(shown(await asked(flavour, ([a]) => `ids=${a}`))).toEqual(["a.txt", "b.txt", "c.txt"]);
});

test.each([
	["ragflow-0.26", { code: 0 }],
	["ragflow-0.27", { code: 101, message: "ids must contain at most 100 IDs" }],
] as const)("%s answers 101 ids by %o", async (flavour, answer) => {
	expect(await asked(flavour, ([a]) => `ids=${a}&`.repeat(101))).toMatchObject(answer);
});

test.each(["ragflow-0.26", "ragflow-0.27"] as const)("%s fails where both id and ids are given", async (flavour) => {
	expect(await asked(flavour, ([a]) => `id=${a}&ids=${a}`)).toMatchObject({ code: 100 });
});
