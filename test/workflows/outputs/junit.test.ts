import { describe, expect, it } from "vitest";
import { junitText } from "../../../src/workflows/outputs/junit.ts";
import { casesOf, validJunit } from "../../support/junit.ts";
import { failedRow, problem, runEnd } from "../../support/run-end.ts";
import type { ExitCode } from "../../../src/errors.ts";

describe("the JUnit report", () => {
	it("has one passing case for a run that went well, so that it is not an empty report", async () => {
		const text = await validJunit(junitText(runEnd()));
		expect(casesOf(text)).toEqual(["docs tag: passed"]);
		expect(text).toContain(
			'name="docs tag tags.csv" package="ragtag" id="0" timestamp="2026-11-22T17:00:00" hostname="localhost" tests="1" failures="0" errors="0" time="4.000"',
		);
	});

	it("names each failed row by its line and its document or file, and keeps the run's own case passed", async () => {
		const failedRows = [
			failedRow(2),
			failedRow(3, { name: "a.pdf", documentId: "d3" }),
			failedRow(4, { path: "a/b.pdf", documentId: "" }),
			failedRow(5, { documentId: "" }),
		];
		const end = runEnd({ exit: 1, failedRows, failedRowCount: 4 });
		const text = await validJunit(junitText(end));
		expect(casesOf(text)).toEqual([
			"docs tag: passed",
			"line 2: doc2: failure 102",
			"line 3: a.pdf (d3): failure 102",
			"line 4: a/b.pdf: failure 102",
			"line 5: failure 102",
		]);
		expect(text).toContain('tests="5" failures="4" errors="0"');
		expect(text).toContain(">102: the document is not there</failure>");
	});

	it("has one case a line for an invalid row with several problems, and an error for a manifest that was refused", async () => {
		const problems = [problem(3, "no date"), problem(3, "no number", "BAD_NUMBER"), problem(7, "no date")];
		const text = await validJunit(junitText(runEnd({ exit: 3, problems, problemCount: 3 })));
		expect(casesOf(text)).toEqual(["docs tag: error exit 3", "line 3: failure BAD_DATE", "line 7: failure BAD_DATE"]);
		expect(text).toContain(">column 3: no date&#10;column 3: no number</failure>");
	});

	it.each<[ExitCode, string]>([
		[2, "error exit 2"],
		[4, "error exit 4"],
		[5, "error exit 5"],
		[6, "error exit 6"],
		[9, "error exit 9"],
		[70, "error exit 70"],
		[130, "error exit 130"],
		[10, "failure exit 10"],
		[1, "failure exit 1"],
	])("is never green for exit code %i, also without a single row", async (exit, expected) => {
		expect(casesOf(await validJunit(junitText(runEnd({ exit }))))).toEqual([`docs tag: ${expected}`]);
	});

	it("counts what is not listed, so that a million failures are one file of a size that can be read", async () => {
		const text = await validJunit(
			junitText(runEnd({ exit: 1, failedRows: [failedRow(2)], failedRowCount: 12_001, problems: [], problemCount: 4 })),
		);
		expect(casesOf(text)).toEqual([
			"docs tag: passed",
			"line 2: doc2: failure 102",
			"12,004 more problems and failed rows: failure MORE",
		]);
	});

	it("stays XML whatever a service or a file name says", async () => {
		const text = '\u0000\u001B[31m<b a="1">&amp;]]>\r\n\tü 🚀 \uD800 \uFFFF';
		const failedRows = [failedRow(2, { text, path: text, code: "<" })];
		const written = await validJunit(junitText(runEnd({ exit: 1, text, args: [text], failedRows, failedRowCount: 1 })));
		expect(written).toContain(
			"&lt;: \u{FFFD}\u{FFFD}[31m&lt;b a=&quot;1&quot;&gt;&amp;amp;]]&gt;&#13;&#10;&#9;ü 🚀 \u{FFFD} \u{FFFD}</failure>",
		);
	});
});
