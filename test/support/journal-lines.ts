import { readFile } from "node:fs/promises";
import { parse } from "./values.ts";

/** A line of a journal: independent of the program's own reader. */
export type JournalLine = {
	readonly code: string;
	readonly row: number;
	readonly attempts: number;
	readonly dataset: string;
	readonly document: string;
	readonly members: unknown;
};

/** `s`: the text of a value may have U+2028, which JSON leaves as it is. */
const LINE = /^[0-9a-f]{8} ([a-z]{2}) (\d+) \d+ (\d+) "([^"]*)" "([^"]*)" (\{.*\})$/s;

/** The whole lines of a journal. */
export async function journalLines(path: string): Promise<readonly JournalLine[]> {
	const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
	return lines.map((line) => {
		const [, code = "", row, attempts, dataset = "", document = "", json = ""] = LINE.exec(line) ?? [];
		if (code === "") throw new Error(`not a line of a journal: ${line}`);
		return { code, row: Number(row), attempts: Number(attempts), dataset, document, members: parse(json) };
	});
}

/** How a row ended, by the code of its outcome. */
export const STATUSES: ReadonlyMap<string, string> = new Map([
	["ou", "updated"],
	["os", "updated"],
	["on", "unchanged"],
	["op", "uploaded"],
	["or", "removed"],
	["of", "failed"],
	["ox", "failed"],
]);

/** What was sent: the members of the records of writes. */
export async function sentIn(path: string): Promise<readonly unknown[]> {
	return (await journalLines(path))
		.filter(({ code }) => code.startsWith("s") && code !== "st")
		.map(({ members }) => members);
}
