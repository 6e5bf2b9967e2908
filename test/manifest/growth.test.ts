import { describe, expect, test } from "vitest";
import { checkBytes } from "./support.ts";

const many = 100_000;
const few = 10_000;
const embedded = JSON.stringify(
	JSON.stringify(Array.from({ length: 3 * few }, (_, index) => ({ key: `value ${index}` }))),
);

/** Texts whose check took minutes, because each fault was searched for from the start of its row. Signals waited as long. */
const table: readonly (readonly [what: string, text: string, problems: number])[] = [
	["a header of empty names", `document_id${",".repeat(many)}\n1\n`, many + 1],
	["a header of one name", `document_id${",a".repeat(many)}\n1\n`, many],
	["a wide row of bad numbers", wide((index) => `,k${index}:number`, ",x"), few],
	["a wide row of good numbers and a quote", wide((index) => `,k${index}:number`, ",1", '"1"'), 0],
	["a quoted cell before many others", `document_id,a\n"1"${",".repeat(many)}\n`, 1],
	["a JSON row with JSON in a text and a fault", `{"document_id":"1","a":${embedded},"n":1e999}\n`, 1],
	["such a row in an array", `[{"document_id":"1","a":${embedded} "n":1}]`, 1],
	["a JSON row of bad numbers", `{"document_id":"1","a":[${"1e999,".repeat(many)}1]}\n`, 100],
	["an array of brackets that open", `[{"document_id":"1"},\n${"[".repeat(many)}`, 1],
	["an array of brackets that do not fit", `[{"document_id":"1"},\n${"{]".repeat(few)}`, 2],
	["many backslashes", `{"document_id":"1","a":"${'\\\\\\"'.repeat(many)}"x}\n`, 1],
];

function wide(name: (index: number) => string, cell: string, id = "1"): string {
	return `document_id${Array.from({ length: few }, (_, index) => name(index)).join("")}\n${id}${cell.repeat(few)}\n`;
}

describe("a hostile manifest is checked in a time that grows with its size alone", () => {
	test.each(table)("%s", async (_, text, problems) => {
		expect((await checkBytes(text)).checked.problems).toBe(problems);
	});

	test("a header with more columns than any document has keys is refused before they are read", async () => {
		const { places, problems } = await checkBytes(`document_id${",".repeat(200_000)}\n1\n`);
		expect(places).toEqual(["1:1 TOO_LONG"]);
		expect(problems[0]?.text).toContain("200001 columns");
	});
});
