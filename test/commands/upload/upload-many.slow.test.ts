import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandFlavours } from "../../support/whole.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { range, summaryOf } from "../../support/values.ts";

/** More than the largest page of a list. */
const FILES = 110;
const names = range(FILES).map((n) => `note-${String(n).padStart(3, "0")}.txt`);
const manifestText = (batch: string): string =>
	`file,batch,n:number,tags:list\n${names.map((name, n) => `${name},${batch},${n},x|y${n}\n`).join("")}`;

describe.each(commandFlavours)(`${FILES} uploads with metadata to %s`, (flavour) => {
	it("reruns with each --on-existing are exact", async () => {
		const service = await serve(0, { flavour });
		const manifest = await file("files.csv", manifestText("first"));
		for (const name of names) await writeFile(join(manifest, "..", name), `text of ${name}`);
		const run = async (...more: string[]): Promise<[number, unknown]> => {
			const argv = ["docs", "upload", manifest, "-d", service.dataset, "--json", "--rate", "5000", ...more];
			const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
			return [exit, summaryOf(stdout)];
		};
		const held = async (): Promise<unknown[]> =>
			(await service.documents())
				.map(({ name, metadata }) => ({ name, metadata }))
				.toSorted((one, other) => (one.name < other.name ? -1 : 1));
		const expected = (batch: string): unknown[] =>
			names.map((name, n) => ({ name, metadata: { batch, n, tags: ["x", `y${n}`] } }));

		expect(await run()).toMatchObject([0, { uploaded: FILES, failed: 0, verified: true }]);
		expect(await held()).toEqual(expected("first"));

		await writeFile(manifest, manifestText("second"));
		expect(await run("--on-existing", "skip")).toMatchObject([0, { unchanged: FILES, uploaded: 0 }]);
		// Rows that our own look settles are no ten refusals of the service.
		expect(await run()).toMatchObject([1, { failed: FILES, uploaded: 0 }]);
		expect(await held()).toEqual(expected("first"));

		expect(await run("--on-existing", "update-metadata")).toMatchObject([0, { updated: FILES, uploaded: 0 }]);
		expect(await held()).toEqual(expected("second"));

		expect(await run("--on-existing", "upload-again")).toMatchObject([0, { uploaded: FILES, failed: 0 }]);
		const all = await service.documents();
		expect(all).toHaveLength(2 * FILES);
		expect(new Set(all.map(({ id }) => id)).size).toBe(2 * FILES);
		expect(all.every(({ metadata }) => JSON.stringify(metadata).includes('"batch":"second"'))).toBe(true);
	});
});
