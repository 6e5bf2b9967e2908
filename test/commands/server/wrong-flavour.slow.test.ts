import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { documented, type Flavour as ClientFlavour } from "../../../src/rest/flavours.ts";
import { normaliseBaseUrl } from "../../../src/rest/url.ts";
import { fileMemory } from "../../../src/run/service/service-memory.ts";
import { type Flavour, flavours, isFlavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { range, summaryOf } from "../../support/values.ts";
import { ragflowPut } from "../../support/flavours.ts";

/** A home whose memory says of that address that it is of a flavour, found out just now and proven. */
async function homeThatTakes(url: string, flavour: ClientFlavour): Promise<string> {
	const home = await folder();
	const baseUrl = normaliseBaseUrl(url);
	const [form] = flavour.update.forms;
	const how = "it was seen";
	await fileMemory(join(home, ".local", "state", "ragtag"), baseUrl).save({
		flavour,
		form,
		proven: "document_id",
		how,
		foundAt: Date.now(),
	});
	return home;
}

const releases = flavours.filter(isFlavour).filter((flavour) => flavour !== "documented");
const wrong = [
	...releases.map((flavour): [Flavour, ClientFlavour] => [flavour, documented]),
	...releases
		.filter((flavour) => flavour >= "ragflow-0.25")
		.map((flavour): [Flavour, ClientFlavour] => [flavour, ragflowPut]),
];

/**
 * A user of 0.1.0 whose memory of the address is wrong, or whose service was changed since, would lose rows: a "405" or
 * RAGFlow's words are a reason to find out anew, whatever was asked for, and cost no row.
 */
describe.each(wrong)("a server that is %s, remembered as $name", (release, remembered) => {
	it("costs no row that is tagged", async () => {
		const service = await serve(20, { flavour: release });
		const home = await homeThatTakes(service.url, remembered);
		const path = await file(
			"tags.csv",
			`document_id,topics:list\n${(await service.ids()).map((id) => `${id},"a, b|c"\n`).join("")}`,
		);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--only-changed", "--json"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service), home });
		expect(summaryOf(stdout)).toMatchObject({ updated: 20, failed: 0, attempts: 20 });
		expect(exit).toBe(0);
		const topics = release >= "ragflow-0.24" ? ["a", "b", "c"] : ["a, b", "c"];
		for (const { metadata } of await service.documents()) expect(metadata).toEqual({ topics });
	});

	it("costs no file that is uploaded, and stores none twice", async () => {
		const service = await serve(3, { flavour: release });
		const home = await homeThatTakes(service.url, remembered);
		const files = await folder();
		for (const n of range(5)) await writeFile(join(files, `${n}.txt`), `text ${n}`);
		const argv = ["docs", "upload", ...range(5).map((n) => join(files, `${n}.txt`)), "-d", service.dataset];
		const { exit, stdout } = await ragtag([...argv, "--set", "team=x", "--json"], { env: envOf(service), home });
		expect(summaryOf(stdout)).toMatchObject({ uploaded: 5, failed: 0, attempts: 5 });
		expect(exit).toBe(0);
		const made = (await service.documents()).filter(({ name }) => /^\d\.txt$/.test(name));
		expect(made.map(({ metadata }) => metadata)).toEqual(range(5).map(() => ({ team: "x" })));
		expect(await service.ids()).toHaveLength(8);
	});

	it("costs no row that is removed, and removes no other", async () => {
		const service = await serve(8, { flavour: release });
		const home = await homeThatTakes(service.url, remembered);
		const ids = await service.ids();
		const argv = ["docs", "rm", "--id", ...ids.slice(0, 5), "-d", service.dataset, "--yes", "--json"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service), home });
		expect(summaryOf(stdout)).toMatchObject({ removed: 5, failed: 0, attempts: 5 });
		expect(exit).toBe(0);
		expect((await service.ids()).toSorted()).toEqual(ids.slice(5).toSorted());
	});
});
