import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it, test } from "vitest";
import { program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { at, parseLines, summaryOf } from "../support/values.ts";
import { row, workbook } from "../support/workbook.ts";

/** Lists of 60 rows that LibreOffice 7.4 saved under German and under US settings. */
const LISTS = "fixtures/spreadsheet";

const GERMAN = ["--decimal-comma", "--date-format", "DD.MM.YYYY", "--true", "WAHR", "--false", "FALSCH"];
const BYTES = ["--encoding", "windows-1252", "--list-separator", ","];

test.each([
	["german.xlsx", ["--list-separator", ","], "Titel", "Größe 1 – „Bericht“"],
	["german.csv", [...BYTES, ...GERMAN], "Titel", "Größe 1 – „Bericht“"],
	["us.xlsx", ["--list-separator", ","], "title", "Résumé 2 — “report”"],
	["us.csv", [...BYTES, "--date-format", "MM/DD/YYYY"], "title", "Résumé 2 — “report”"],
])("%s is tagged by one command, and no row is refused", async (list, options, title, text) => {
	const service = await serve(60);
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const argv = ["docs", "tag", join(LISTS, list), "-d", service.dataset, "--json", "--rate", "5000", ...options];
	const tagged = await program(argv, env);
	expect([tagged.exit, tagged.stdout]).toEqual([0, expect.stringContaining('"updated":60')]);
	expect(summaryOf(tagged.stdout)).toMatchObject({ rows: 60, updated: 60, failed: 0, invalid: 0 });
	const [, second] = parseLines((await program(["docs", "list", "-d", service.dataset, "--json"], env)).stdout);
	const [budget, date, flag, topics, pages] =
		title === "Titel"
			? ["Budget", "Stand", "Freigegeben", "Themen", "Seiten"]
			: ["budget", "publish_date", "released", "topics", "pages"];
	expect(at(second, "meta_fields")).toEqual({
		[title]: text,
		[String(budget)]: 1000.25,
		[String(date)]: "2023-01-12",
		[String(flag)]: false,
		[String(topics)]: ["Reise", "Geld"],
		[String(pages)]: 2,
	});
});

it("a workbook with a problem sends nothing, and names the sheet and the cell", async () => {
	const service = await serve(3);
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const [id = ""] = await service.ids();
	const path = join(await folder(), "tags.xlsx");
	const rows = row(1, "document_id", "publish_date") + row(17, id, "soon");
	await writeFile(path, workbook({ rows }));
	const refused = await program(["docs", "tag", path, "-d", service.dataset, "--json"], env);
	expect(refused.exit).toBe(3);
	expect(refused.stderr).toContain(`${path}:17:2: Tabelle1!B17: publish_date: "soon" is not a date`);
	expect(parseLines(refused.stdout).find((line) => at(line, "type") === "problem")).toMatchObject({
		line: 17,
		column: 2,
		sheet: "Tabelle1",
		field: "publish_date",
	});
	const failed = await program(["docs", "tag", path, "-d", service.dataset, "--sheet", "Tabelle2"], env);
	expect([failed.exit, failed.stderr]).toEqual([
		3,
		expect.stringContaining("the workbook has no sheet Tabelle2; it has 1 Tabelle1"),
	]);
});

/** The six kinds and three folders of the files that the workbook lists. LibreOffice 7.4 saved it under German settings. */
const KINDS = ["pdf", "docx", "xlsx", "html", "md", "png"] as const;
const FOLDERS = ["personal", "finanzen", "technik"] as const;

it("60 files of six kinds with an Excel list are tagged documents after the two commands of the page", async () => {
	const page = await readFile("docs/folder-and-list.md", "utf8");
	const commands = /```sh\n(.*?)```/s.exec(page)?.[1]?.trim().split("\n") ?? [];
	expect(commands.length).toBe(2);
	const papers = await folder();
	for (let n = 1; n <= 60; n++) {
		const path = join(
			papers,
			FOLDERS[(n - 1) % 3] ?? "",
			`Bericht ${String(n).padStart(2, "0")}.${KINDS[(n - 1) % 6]}`,
		);
		await mkdir(dirname(path), { recursive: true });
		await writeFile(path, `content of ${n}`);
	}
	await copyFile(join(LISTS, "folder-list.xlsx"), join(papers, "list.xlsx"));
	const service = await serve(0, { flavour: "ragflow-0.27" });
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	for (const command of commands) {
		const words = command.replace("papers/", `${papers}/`).replace("$DATASET", service.dataset).split(" ").slice(1);
		const { exit, stderr } = await program(
			[...words, "--rate", "5000"].slice(0, words[0] === "manifest" ? -2 : undefined),
			env,
		);
		expect([exit, stderr]).toEqual([0, stderr]);
	}
	const documents = await service.documents();
	expect(documents.length).toBe(60);
	expect(documents.find(({ name }) => name === "Bericht 02.docx")?.metadata).toEqual({
		Titel: "Größe 2 – „Bericht“",
		Autor: "Weiß",
		Stand: "2025-03-02",
		Seiten: 2,
		Geprüft: true,
		Themen: "Reise, Geld",
	});
});
