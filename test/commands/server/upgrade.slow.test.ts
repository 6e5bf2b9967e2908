import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { type Flavour, flavours, isFlavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";

const all = flavours.filter(isFlavour);
const neighbours = all.flatMap((flavour, place): [Flavour, Flavour][] => {
	const next = all[place + 1];
	// Up, and down again, as a release that is taken back.
	return next === undefined
		? []
		: [
				[flavour, next],
				[next, flavour],
			];
});

const pairs: readonly [Flavour, Flavour][] = [
	["documented", "ragflow-0.23"],
	["ragflow-0.23", "documented"],
	["documented", "ragflow-0.26"],
	["ragflow-0.26", "documented"],
	...neighbours,
];

const fast = ["--rate", "5000", "--json"];
const manifest = (ids: readonly string[]): string =>
	`document_id,author\n${ids.map((id) => `${id},of ${id}\n`).join("")}`;

describe("a server that is replaced during a run costs none of its 200 rows", () => {
	const table = pairs.map(([flavour, to]): [Flavour, Flavour, number] => [flavour, to, 50]);
	it.each([...table, ["documented", "ragflow-0.26", 1] as const, ["ragflow-0.18", "ragflow-0.21", 199] as const])(
		"from %s to %s after %i of them",
		async (flavour, to, after) => {
			const service = await serve(200, { flavour, upgrade: { to, after } });
			const path = await file("tags.csv", manifest(await service.ids()));
			const argv = ["docs", "tag", path, "-d", service.dataset, ...fast];
			await ends(ragtag(argv, { env: envOf(service) }), 0, { updated: 200, failed: 0, pending: 0 });
			for (const { id, metadata } of await service.documents()) expect(metadata).toEqual({ author: `of ${id}` });
		},
	);
});

it("a server that was v0.27, and is v1.0 at the next run, is recognised by the answer to its first row", async () => {
	const service = await serve(3, { flavour: "ragflow-0.27" });
	const home = await folder();
	const ids = await service.ids();
	const tag = async (author: string) => {
		const path = await file("tags.csv", `document_id,author\n${ids.map((id) => `${id},${author}\n`).join("")}`);
		return ragtag(["docs", "tag", path, "-d", service.dataset, ...fast], { env: envOf(service), home });
	};
	expect((await tag("one")).exit).toBe(0);
	service.become("ragflow-1.0");
	const { stderr } = await ends(tag("two"), 0, { updated: 3, failed: 0, verified: true });
	expect(stderr).toContain("The service now answers as RAGFlow v1.0");
	for (const { metadata } of await service.documents()) expect(metadata).toEqual({ author: "two" });
});
