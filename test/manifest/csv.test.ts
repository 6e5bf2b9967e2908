import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf } from "../../src/manifest/csv/cells.ts";
import { RecordSplitter } from "../../src/manifest/csv/split.ts";
import { checkBytes, plain } from "./support.ts";

describe("a fault in CSV is found where an editor shows it", () => {
	const table: readonly (readonly [what: string, text: string, places: string])[] = [
		["a row with a cell too few", "document_id,a,b\n1,x\n2,x,y\n", "2:4 RAGGED"],
		["a row with a cell too many", "document_id,a\n1,x,y\n", "2:5 RAGGED"],
		["blank lines before it are counted", "document_id,a\n\n\r\n1\n", "4:2 RAGGED"],
		["blank lines before the header are counted", "\n\ndocument_id,a\n\n1\n", "5:2 RAGGED"],
		["line ends of an old Macintosh", "document_id,a\r1,x\r2,y\r", "1:14 LONE_CR"],
		["CRLF in quotes counts as one line", 'document_id,a\r\n1,"x\r\ny"\r\n2\r\n', "4:2 RAGGED"],
		["characters are counted, not bytes or halves", 'document_id,a,publish_date\n1,"ä😀",2023-02-30\n', "2:8 BAD_DATE"],
		["a cell after line feeds in quotes", 'document_id,a,publish_date\n1,"x\ny",nope\n', "3:4 BAD_DATE"],
		["a quote that is never closed", 'document_id,a\n1,x\n2,"open\n3,y\n', "3:3 UNCLOSED_QUOTE"],
		["text after a closing quote", 'document_id,a\n1,"x"y\n2,z\n', "2:6 TEXT_AFTER_QUOTE"],
		["a quote in a bare cell", 'document_id,a\n1,x"y\n2,z\n', "2:4 BARE_QUOTE"],
		["lone carriage returns", "document_id,a\n1,x\r2,y\n", "2:4 LONE_CR"],
		["a NUL character", "document_id,a\n1,x\0y\n", "2:4 NUL"],
		["a number that is none", "document_id,n:number\n1,007\n", "2:3 BAD_NUMBER"],
		["a number that a double cannot hold", "document_id,n:number\n1,12345678901234567890\n", "2:3 BAD_NUMBER"],
		["a boolean that is none", "document_id,b:boolean\n1,True\n", "2:3 BAD_BOOLEAN"],
		["JSON that is none", 'document_id,j:json\n1,"{""a"":1,}"\n', "2:3 BAD_JSON"],
		["a member twice in JSON", 'document_id,j:json\n1,"{""a"":1,""a"":2}"\n', "2:3 DUPLICATE_MEMBER"],
		["an empty id", 'document_id,a\n"",x\n', "2:1 BAD_ID"],
		["an id that climbs folders", "document_id,a\n..,x\n", "2:1 BAD_ID"],
		["an id with a space at its end", "a,document_id\nx,1 \n", "2:3 BAD_ID"],
		["faults of one row", "document_id,url,publish_date\n1,example.org,2023-2-3\n", "2:15 BAD_DATE, 2:3 BAD_URL"],
	];
	test.each(table)("%s", async (_, text, places) => {
		for (const chunk of [1, 7, 1000]) expect((await checkBytes(text, {}, chunk)).places.join(", ")).toBe(places);
	});

	test("one unclosed quote does not swallow a huge file", async () => {
		const { places } = await checkBytes(`document_id,a\n1,"${"x\n".repeat(700_000)}`);
		expect(places).toEqual(["2:3 UNCLOSED_QUOTE"]);
	});

	test("a cell beyond the limit is refused, quoted or not", async () => {
		const long = "x".repeat(1024 * 1024 + 1);
		expect((await checkBytes(`document_id,a\n1,${long}\n`)).places).toEqual(["2:3 TOO_LONG"]);
		expect((await checkBytes(`document_id,a\n1,"${long}"\n`)).places).toEqual(["2:3 TOO_LONG"]);
	});

	test("a fault names its field, and shows values without control characters", async () => {
		const { problems } = await checkBytes("document_id,publish_date\n1,\u001b[31mred\n");
		expect(problems[0]).toMatchObject({ field: "publish_date", file: "-" });
		expect(problems[0]?.text).toBe('publish_date: "\\x1b[31mred" is not a date of the form YYYY-MM-DD');
	});
});

describe("a wrong header sends nothing", () => {
	const table: readonly (readonly [header: string, code: string])[] = [
		["document_id,a,a", "DUPLICATE_COLUMN"],
		["document_id,a,a:text", "DUPLICATE_COLUMN"],
		["document_id,,a", "EMPTY_COLUMN"],
		["document_id,a,", "EMPTY_COLUMN"],
		["Document ID,a", "UNKNOWN_COLUMN"],
		["documnet_id,a", "UNKNOWN_COLUMN"],
		["document_id,dataset-id", "UNKNOWN_COLUMN"],
		["document_id,metafields", "UNKNOWN_COLUMN"],
		["document_id,meta_fields", "META_FIELDS"],
		["document_id,year:numbr", "UNKNOWN_TYPE"],
		["document_id,year:int", "UNKNOWN_TYPE"],
		["document_id,year:Number", "UNKNOWN_TYPE"],
		["a,b", "MISSING_COLUMN"],
		// What an upload prints: sent as it stands, it would clear every document.
		["document_id,name,file", "NO_METADATA"],
		["document_id|a", "DELIMITER"],
	];
	test.each(table)("%s", async (header, code) => {
		const { problems, checked, rows } = await checkBytes(`${header}\n`);
		expect(problems.map((problem) => [problem.line, problem.code])).toEqual([[1, code]]);
		expect(checked.fatal).toBe(true);
		expect(rows).toEqual([]);
	});

	test("without a dataset column or --dataset no row has a dataset", async () => {
		const { places } = await checkBytes("document_id,a\n1,x\n", { dataset: undefined });
		expect(places).toEqual(["1:1 MISSING_COLUMN"]);
	});

	test("--map and --ignore of columns that do not exist are problems", async () => {
		const options = { map: new Map([["x", "y"]]), ignore: new Set(["z"]) };
		const { problems } = await checkBytes("document_id,a\n1,x\n", options);
		expect(problems.map(({ field, code }) => [field, code])).toEqual([
			["x", "NO_SUCH_COLUMN"],
			["z", "NO_SUCH_COLUMN"],
		]);
	});
});

describe("values arrive as they stand", () => {
	test("types, keys with colons, reserved names, prototype keys", async () => {
		const text =
			"document_id,dc:title,dc:title:text:text,name:text,n:number,b:boolean,l:list,j:json,__proto__,name,_error\n" +
			'1,t,u,v,-1.50e2,true,"a|b\\|c\\\\| d","{""x"":[1,null]}",p,ignored,ignored\n';
		const { rows, problems } = await checkBytes(text);
		expect(problems).toEqual([]);
		expect(Array.from(rows[0]?.metadata ?? [])).toEqual([
			["dc:title", "t"],
			["dc:title:text", "u"],
			["name", "v"],
			["n", -150],
			["b", true],
			["l", ["a", "b|c\\", " d"]],
			["j", { x: [1, null] }],
			["__proto__", "p"],
		]);
	});

	test.each([
		["skip", []],
		["null", [["a", null]]],
		["text", [["a", ""]]],
	] as const)("an empty cell with --empty %s", async (empty, entries) => {
		const { rows } = await checkBytes("document_id,a\n1,\n", { empty });
		expect(Array.from(rows[0]?.metadata ?? [])).toEqual(entries);
	});

	test.each([
		["sep=;\n", ";", 3],
		["\uFEFFsep=;\r\n", ";", 3],
		['"sep=,"\n', ",", 3],
		["SEP=\t\n\n", "\t", 4],
	])("a first line %j names the delimiter, as it does for Excel", async (first, delimiter, line) => {
		// Counted by itself, the other delimiter would win.
		const key = delimiter === "," ? "c;d;e;f" : "c,d,e,f";
		const text = `${first}document_id${delimiter}a${delimiter}${key}\n1${delimiter}x${delimiter}y\n`;
		for (const chunk of [1, 4, 100]) {
			const { rows, problems } = await checkBytes(text, {}, chunk);
			expect(problems).toEqual([]);
			expect(rows.map((row) => [row.line, row.metadata.get("a")])).toEqual([[line, "x"]]);
		}
		const { places } = await checkBytes(`${first}document_id${delimiter}\n1${delimiter}x\n`);
		expect(places).toContain(`${line - 1}:13 EMPTY_COLUMN`);
	});

	test.each([["sep=|"], ["sep="], ["sep=x"]])("a first line %s names a delimiter that is not read", async (first) => {
		const { places, problems } = await checkBytes(`${first}\ndocument_id|a\n1|x\n`);
		expect(places).toEqual(["1:1 DELIMITER"]);
		expect(problems[0]?.text).toContain("use a comma, a semicolon or a tab");
	});

	test("--map, --ignore and --set decide what is sent", async () => {
		const { rows, problems } = await checkBytes("ID,Jahr:number,drop,k\n1,2020,x,old\n", {
			map: new Map([
				["ID", "document_id"],
				["Jahr", "year"],
			]),
			ignore: new Set(["drop"]),
			set: new Map([["k", "new"]]),
		});
		expect(problems).toEqual([]);
		expect(plain(rows)).toEqual([
			[
				"d1",
				"1",
				[
					["year", 2020],
					["k", "new"],
				],
			],
		]);
	});

	test("a delete token passes every type and check", async () => {
		const { rows, problems } = await checkBytes("document_id,n:number,publish_date\n1,!delete,!delete\n", {
			deleteToken: "!delete",
		});
		expect(problems).toEqual([]);
		expect(rows[0]?.metadata.get("n")).toBe("!delete");
	});

	test("failed rows can be fed back: same header, same cells, why", async () => {
		const first = await checkBytes('document_id;a b;_error\n1;"x;y";old\n');
		expect(first.failed).toEqual([
			"document_id;a b;_line;_error_code;_error;_attempts\n",
			'1;"x;y";7;HTTP_500;"said ""no"", twice";3\n',
		]);
		const again = await checkBytes(first.failed.join(""));
		expect(plain(again.rows)).toEqual(plain(first.rows));
	});
});

test("records are divided and unquoted as csv-parse does it, at every chunk size", () => {
	const cell = fc.oneof(fc.string(), fc.stringMatching(/^[a ,;"\r\n|ä😀]*$/u));
	const dialect = fc.record({
		rows: fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
		delimiter: fc.constantFrom(",", ";", "\t"),
		end: fc.constantFrom("\n", "\r\n"),
		always: fc.boolean(),
		chunk: fc.integer({ min: 1, max: 40 }),
	});
	fc.assert(
		fc.property(dialect, ({ rows, delimiter, end, always, chunk }) => {
			const quoted = (text: string): string =>
				always || /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
			const text = rows
				.map((cells) => cells.map((value) => quoted(value.replaceAll("\0", ""))).join(delimiter) + end)
				.join("");
			const splitter = new RecordSplitter(delimiter, 1);
			const records = [];
			for (let at = 0; at < text.length; at += chunk) records.push(...splitter.push(text.slice(at, at + chunk)));
			records.push(...splitter.end());
			expect(records.map(({ fault }) => fault)).toEqual(records.map(() => undefined));
			expect(cellsOf(records, delimiter)).toEqual(
				parse(text, { delimiter, record_delimiter: end, relax_column_count: true }),
			);
		}),
		{ numRuns: 500 },
	);
});
