import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { flavours as dialects } from "../../../src/rest/flavours.ts";
import type { Echo } from "../../../src/rest/types.ts";
import { fileMemory } from "../../../src/run/service/service-memory.ts";
import { type Flavour, flavours, isFlavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { range } from "../../support/values.ts";

const fast = ["--rate", "5000", "--json"];

/** A list is kept whole by some and taken apart by others: the rest is the same everywhere. */
const row = (document_id: string, n: number) => ({ document_id, meta_fields: { author: `Zoë ${n}`, year: 2000 + n } });

/** How each server names the document of an update: a memory that expects it has nothing to be warned by. */
const echoes: Readonly<Record<Flavour, Echo>> = {
	documented: "document_id",
	"ragflow-0.18": "nothing",
	"ragflow-0.21": "id",
	"ragflow-0.23": "id",
	"ragflow-0.24": "id",
	"ragflow-0.25": "id",
	"ragflow-0.26": "id",
	"ragflow-0.27": "id",
	"ragflow-1.0": "id",
};

const pairs = dialects.flatMap((flavour) =>
	flavour.update.forms.flatMap((form) =>
		flavours.filter(isFlavour).map((server) => ({ name: flavour.name, flavour, form, server, proven: echoes[server] })),
	),
);

describe("an address with a wrong remembered flavour loses no row, and counts none that did not arrive", () => {
	it.each(pairs)("$name in the form $form, and it is $server", async ({ server, ...memory }) => {
		const service = await serve(26, { flavour: server });
		const state = await folder();
		const entry = fileMemory(state, `${service.url}/api/v1`);
		await entry.save({ ...memory, how: "as it was once", foundAt: Date.now() });
		expect(await entry.load()).toMatchObject({ proven: memory.proven });
		const env = { ...envOf(service), RAGTAG_STATE_DIR: state };
		const [spared = "", ...ids] = await service.ids();

		const rows = await file("tags.jsonl", ids.map((id, n) => JSON.stringify(row(id, n))).join("\n"));
		const ended = await ragtag(["docs", "tag", rows, "-d", service.dataset, ...fast], { env });
		await ends(ended, 0, { rows: 25, updated: 25, failed: 0, verified: true });
		const held = new Map((await service.documents()).map(({ id, metadata }) => [id, metadata]));
		for (const [n, id] of ids.entries()) expect(held.get(id)).toEqual(row(id, n).meta_fields);
		expect(held.get(spared)).toEqual({});

		// Also where nothing but an upload or a removal could tell.
		await entry.save({ ...memory, how: "as it was once", foundAt: Date.now() });
		const files = await Promise.all(range(3).map((n) => file(`${n}.txt`, `text ${n}`)));
		const upload = ["docs", "upload", ...files, "-d", service.dataset, "--set", "team=x", ...fast];
		await ends(ragtag(upload, { env }), 0, { uploaded: 3, failed: 0, attempts: 3 });
		const made = (await service.documents()).filter(({ name }) => /^\d\.txt$/.test(name));
		expect(made.map(({ metadata }) => metadata)).toEqual(range(3).map(() => ({ team: "x" })));

		await entry.save({ ...memory, how: "as it was once", foundAt: Date.now() });
		const named = await file("ids.csv", `document_id\n${ids.slice(0, 5).join("\n")}\n`);
		const argv = ["docs", "rm", named, "-d", service.dataset, "--yes", ...fast];
		await ends(ragtag(argv, { env }), 0, { rows: 5, removed: 5, failed: 0 });
		const left = [spared, ...ids.slice(5), ...made.map(({ id }) => id)];
		expect((await service.ids()).toSorted()).toEqual(left.toSorted());
	});
});
