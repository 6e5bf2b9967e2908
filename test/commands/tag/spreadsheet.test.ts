import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { hasLibreOffice, IMPORTS, throughLibreOffice } from "../../support/libreoffice.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { folder, serve } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const isThere = hasLibreOffice();
const missing = "SKIPPED, as there is no soffice here; test/manifest/spreadsheet.test.ts reads what it saved";

// Documents of the sandbox have ids of digits alone, of which a spreadsheet makes numbers.
it.skipIf(!isThere).each(["ids-as-text", "text"])(
	`a manifest that LibreOffice opened and saved changes nothing: import %s${isThere ? "" : ` (${missing})`}`,
	async (name) => {
		const odd = parseLines(await readFile("fixtures/spreadsheet/odd-values.jsonl", "utf8"));
		const service = await serve(odd.length);
		for (const [index, id] of (await service.ids()).entries()) await service.put(id, at(odd[index], "meta_fields"));
		const before = await service.documents();
		const path = join(await folder(), "tags.csv");
		const env = envOf(service);
		const init = await ragtag(["manifest", "init", "-d", service.dataset, "--out", path], { env });
		expect(init.exit).toBe(0);
		const saved = await throughLibreOffice(path, IMPORTS[name] ?? "");
		await says(ragtag(["docs", "tag", saved, "--dry-run", "--detailed-exitcode"], { env }), 0, "rows");
		const tag = await ragtag(["docs", "tag", saved, "--only-changed", "--json"], { env });
		expect(summaryOf(tag.stdout)).toMatchObject({ rows: odd.length, unchanged: odd.length, exit_code: 0 });
		expect(await service.documents()).toEqual(before);
	},
);

it("manifest init warns if a spreadsheet would take ids for numbers: no row would find its document", async () => {
	const noteOf = async (documents: number): Promise<string> => {
		const service = await serve(documents);
		const path = join(await folder(), "tags.csv");
		return (await ragtag(["manifest", "init", "-d", service.dataset, "--out", path], { env: envOf(service) })).stderr;
	};
	expect(await noteOf(2)).toContain("import the column document_id as text");
	expect(await noteOf(0)).not.toContain("document_id");
});
