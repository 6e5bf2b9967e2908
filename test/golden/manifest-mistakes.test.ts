import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "vitest";
import { Transcript } from "./transcript.ts";

/** Plausible mistakes in a manifest. Each answer says what is wrong, and what to do. */
const FILES: readonly (readonly [name: string, content: string])[] = [
	["id.csv", "id,author\n1,Ana\n"],
	["spaced.csv", "Doc ID,author\n1,Ana\n"],
	["settings.yaml", "author: Ana\ncategory: news\n"],
	["names.txt", "report.pdf\nnotes.md\n"],
	["rounded.csv", "document_id,author\n1.23E+30,Ana\n"],
	["values.csv", 'document_id,pages:number,draft:boolean,publish_date\n1,"1,5",yes,31.12.2024\n'],
	["plan.jsonl", '{"ragtag_plan":1,"ragtag":"0.1.0","mode":"replace"}\n{"line":2}\n'],
	["report.pdf", "%PDF-1.7\n"],
	["book.xlsx", "PK\u0003\u0004................[Content_Types].xml....xl/workbook.xml"],
	["notes.docx", "PK\u0003\u0004................[Content_Types].xml....word/document.xml"],
	["commented.json", '// of May\n[{"document_id":"1"}]\n'],
];

it("mistakes in manifests", async () => {
	const say = await Transcript.start();
	for (const [name, content] of FILES) {
		const path = join(say.folder, name);
		await writeFile(path, content, "latin1");
		await say.run(["manifest", "check", path, "-d", "set"]);
	}
	await say.run(["manifest", "check", join(say.folder, "id.csv"), "-d", "set", "--map", "document_id=id"]);
	await say.run(["manifest", "check", join(say.folder, "values.csv")]);
	const schema = await say.file(
		"schema.json",
		'{"required":["team"],"properties":{"author":{"enum":["Ana","Ben"]}},"type":"object"}\n',
	);
	const path = await say.file("schema.csv", "document_id,author\n1,Cem\n");
	await say.run(["manifest", "check", path, "-d", "set", "--schema", schema]);
	await say.matches("manifest-mistakes");
});
