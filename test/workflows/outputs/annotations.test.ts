import { describe, expect, it } from "vitest";
import { githubLines, gitlabText } from "../../../src/workflows/outputs/annotations.ts";
import { pageOf } from "../../../src/workflows/outputs/report-file.ts";
import { pageMarkdown } from "../../../src/report/page/markdown.ts";
import { summaryOf } from "../../../src/report/summary.ts";
import { totalsOf } from "../../support/pages.ts";
import { failedRow, problem, runEnd } from "../../support/run-end.ts";
import { at, items, parse, range } from "../../support/values.ts";

const inData = (file: string): string | undefined => (file === "tags.csv" ? "data/tags.csv" : undefined);

describe("annotations of GitHub", () => {
	it("name the file from the root of the workspace, the line, the column and the code", () => {
		const end = runEnd({ exit: 3, problems: [problem(3, "no date")], problemCount: 1, failedRows: [failedRow(7)] });
		expect(githubLines(end, inData)).toEqual([
			"::error file=data/tags.csv,line=3,col=3,title=ragtag docs tag%3A BAD_DATE::no date",
			"::error file=data/tags.csv,line=7,title=ragtag docs tag%3A 102::doc7: the document is not there",
		]);
	});

	it("can't be ended or forged by what a service or a file name says", () => {
		const text = "100% sure\r\n::set-env name=x::y";
		const failedRows = [failedRow(2, { text, code: "a,b:c", documentId: "" })];
		expect(githubLines(runEnd({ exit: 1, failedRows, failedRowCount: 1 }), () => "a,b:c%.csv")).toEqual([
			"::error file=a%2Cb%3Ac%25.csv,line=2,title=ragtag docs tag%3A a%2Cb%3Ac::100%25 sure%0D%0A::set-env name=x::y",
		]);
	});

	it("name the line in the text where GitHub knows no such file", () => {
		const failedRows = [failedRow(2, { file: "standard input" })];
		expect(githubLines(runEnd({ exit: 1, failedRows, failedRowCount: 1 }), inData)).toEqual([
			"::error title=ragtag docs tag%3A 102::standard input:2: doc2: the document is not there",
		]);
	});

	it("are ten and a count, as GitHub drops what is more", () => {
		const end = runEnd({ exit: 1, failedRows: range(30, 2).map((line) => failedRow(line)), failedRowCount: 1_030 });
		const lines = githubLines(end, inData);
		expect(lines).toHaveLength(11);
		expect(lines.at(-1)).toBe("::warning title=ragtag docs tag::1,020 more; --json lists all of them");
	});

	it("are none for a run that went well, and one for a run that stopped before its rows", () => {
		expect(githubLines(runEnd(), inData)).toEqual([]);
		expect(githubLines(runEnd({ exit: 6, text: "no answer" }), inData)).toEqual([
			"::error title=ragtag docs tag%3A exit 6::no answer",
		]);
	});
});

describe("the code quality report of GitLab", () => {
	it("has the members that GitLab asks for, and is an empty array for a run that went well", () => {
		expect(parse(gitlabText(runEnd(), inData))).toEqual([]);
		const end = runEnd({ exit: 9, text: "too many", problems: [problem(3, "no date")], failedRows: [failedRow(7)] });
		expect(parse(gitlabText(end, inData))).toMatchObject([
			{
				description: "too many",
				check_name: "ragtag: exit 9",
				severity: "critical",
				location: { path: "data/tags.csv", lines: { begin: 1 } },
			},
			{
				description: "no date",
				check_name: "ragtag: BAD_DATE",
				severity: "major",
				location: { path: "data/tags.csv", lines: { begin: 3 } },
			},
			{ description: "doc7: the document is not there", location: { lines: { begin: 7 } } },
		]);
	});

	it("has a fingerprint that stays when a line moves, and differs within a report", () => {
		const prints = (first: number): unknown[] => {
			const problems = [problem(first, "no date"), problem(first + 1, "no date"), problem(first, "no number")];
			const failedRows = [failedRow(first, { documentId: "same" })];
			const text = gitlabText(runEnd({ exit: 3, problems, problemCount: 3, failedRows }), inData);
			return items(parse(text)).map((issue) => at(issue, "fingerprint"));
		};
		expect(prints(2)).toEqual(prints(40));
		expect(new Set(prints(2)).size).toBe(4);
	});
});

describe("the summary of a step", () => {
	it("of a good manifest says so, and counts no row as pending", () => {
		const ended = { totals: totalsOf({ rows: 201, pending: 201 }), seconds: 0, stop: undefined };
		const text = "201 rows (csv), no problems";
		const end = runEnd({ command: "manifest check", text, summary: summaryOf(ended, 0), result: ended });
		const page = pageMarkdown(pageOf(end));
		expect(page).toContain(
			"## Successful: `ragtag manifest check tags.csv`\n\nNo row was sent.\n\n`201 rows (csv), no",
		);
		expect(page).not.toContain("pending");
	});

	it("is a page of Markdown in which nothing of a service becomes a link or ends a cell", () => {
		const text = "a|b `c` [x](http://e) <img src=x>\n@me";
		const end = runEnd({ exit: 1, text: "1 row: 1 failed", failedRows: [failedRow(2, { text })], failedRowCount: 3 });
		const page = pageMarkdown(pageOf(end));
		expect(page).toMatch(/^## Failed: `ragtag docs tag tags\.csv`\n.*\n\n`1 row: 1 failed`\n/s);
		expect(page).toContain(
			"| 2 | `doc2` | `102` | `` a\\|b `c` [x](http://e) <img src=x>\\x0a@me `` | 1 |\n\n… and 2 rows more.\n",
		);
	});
});
