import { csvLine } from "./csv/quote.ts";
import { parseMembers } from "./json/parse.ts";
import { FAILURE_COLUMNS, isFailureColumn } from "./rows/reserved.ts";
import type { FailedRowFormat, RowFailure } from "./types.ts";

/** Failed rows with the manifest's own header and delimiter, so that the same command reads them again. */
export function csvFailedRows(header: readonly string[], delimiter: string): FailedRowFormat {
	const kept = header.map((name) => !isFailureColumn(name));
	const names = [...header.filter((_, index) => kept[index]), ...FAILURE_COLUMNS];
	return {
		head: csvLine(names, delimiter),
		row(source, failure) {
			const cells = source.kind === "csv" ? source.cells.filter((_, index) => kept[index]) : [];
			return csvLine([...cells, ...reasons(failure).map(String)], delimiter);
		},
	};
}

/** Failed rows as JSON lines: the members stand as they stood in the manifest, byte for byte. */
export const jsonFailedRows: FailedRowFormat = {
	head: "",
	row(source, failure) {
		const text = source.kind === "json" ? source.text : "{}";
		const members: string[] = [];
		for (const [key, { start, end }] of parseMembers(text)) {
			// A line feed can only stand between tokens: in a string it is escaped.
			if (!isFailureColumn(key)) members.push(text.slice(start, end).replaceAll(/[\r\n]+\s*/g, " "));
		}
		const values = reasons(failure);
		for (const [index, name] of FAILURE_COLUMNS.entries()) members.push(`"${name}":${JSON.stringify(values[index])}`);
		return `{${members.join(",")}}\n`;
	},
};

function reasons({ line, errorCode, error, attempts }: RowFailure): readonly (string | number)[] {
	return [line, errorCode, error, attempts];
}
