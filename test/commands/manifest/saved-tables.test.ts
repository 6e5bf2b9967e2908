import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { ragtag } from "../../support/ragtag.ts";
import { file } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

const rows = Array.from(
	{ length: 60 },
	(_, n) => `doc-${n};Bericht ${n};${n + 1}.234,5;${n % 2 === 0 ? "ja" : "nein"};24.12.2024\n`,
);
const TABLE = `document_id;Titel;Budget:number;Frei:boolean;publish_date\n${rows.join("")}`;

it("what one option reads is summed up by column, so that sixty cells are one thing to do", async () => {
	const path = await file("liste.csv", TABLE);
	const { stderr } = await says(
		ragtag(["manifest", "check", path, "-d", "D"]),
		3,
		`${path}:2:17: Budget: "1.234,5" is not a number; write 1234.5\n`,
		`${path}:2:17: Budget: 60 cells have a decimal comma, the first at 2:17; --decimal-comma reads them\n`,
		`${path}:2:25: Frei: 30 cells have the word ja, the first at 2:25; --true ja reads them\n`,
		"30 cells have the word nein, the first at 3:25; --false nein reads them\n",
		"60 cells have a date of the form DD.MM.YYYY, the first at 2:28; --date-format DD.MM.YYYY reads",
	);
	expect(stderr).not.toContain("more problems");
	expect(stderr.split("\n").filter((line) => line.startsWith(path))).toHaveLength(8);
	expect(stderr).toContain("180 problems in 60 rows");

	const read = ["--decimal-comma", "--date-format", "DD.MM.YYYY", "--true", "ja", "--false", "nein"];
	expect((await ragtag(["manifest", "check", path, "-d", "D", ...read])).exit).toBe(0);
});

it("one cell is named with its option, and --json has the option of each problem", async () => {
	const path = await file("liste.csv", "document_id;n:number\na;1,5\nb;x\n");
	const { stdout, stderr } = await ragtag(["manifest", "check", path, "-d", "D", "--json"]);
	expect(stderr).toContain(`${path}:2:3: n: 1 cell has a decimal comma, at 2:3; --decimal-comma reads it\n`);
	const problems = parseLines(stdout).filter((line) => at(line, "type") === "problem");
	expect(problems.map((problem) => at(problem, "option"))).toEqual(["--decimal-comma", undefined]);
});

it("a file in windows-1252 is refused with the option that reads it", async () => {
	const path = await file("liste.csv", Buffer.from("document_id,a\nd,Gr\xf6\xdfe\n", "latin1"));
	const refused = await ragtag(["manifest", "check", path, "-d", "D"]);
	await says(refused, 3, `${path}:2:5: byte 18 (0xf6) is not UTF-8; --encoding windows-1252 reads a CSV`);
	expect((await ragtag(["manifest", "check", path, "-d", "D", "--encoding", "windows-1252"])).exit).toBe(0);
});
