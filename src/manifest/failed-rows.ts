import { MANIFEST_JSON } from "./limits.ts";
import { csvLine } from "./csv/cells.ts";
import { parseMembers } from "../json/parser.ts";
import { FAILURE_COLUMNS, isFailureColumn, ROLES } from "./purposes.ts";
import type { FailedRowFormat, ManifestOptions, RowFailure, RowPlace } from "./types.ts";

/** Failed rows are written in UTF-8, whatever the manifest is in: the mark wins over `--encoding` when they are read again. */
export function marked(format: FailedRowFormat, { encoding }: Pick<ManifestOptions, "encoding">): FailedRowFormat {
	return encoding === undefined ? format : { ...format, head: `\uFEFF${format.head}` };
}

/** The columns of an upload's rows whose values are made absolute, so that the file can be read from any folder. */
const PLACED = ["file", "name", "dataset_id"] as const;
type PlacedColumn = (typeof PLACED)[number];

/**
 * Failed rows with the manifest's own header and delimiter, so that the same command reads them again.
 *
 * @param roleOf what a column of the header is for; undefined where rows are written as they stand
 */
export function csvFailedRows(
	header: readonly string[],
	delimiter: string,
	roleOf?: (column: number) => string | undefined,
): FailedRowFormat {
	const kept = header.map((name) => !isFailureColumn(name));
	const added =
		roleOf === undefined
			? []
			: PLACED.filter((role) => !header.some((name, at) => name === role || roleOf(at) === role));
	const names = [...header.filter((_, index) => kept[index]), ...added, ...FAILURE_COLUMNS];
	return {
		ending: "csv",
		head: csvLine(names, delimiter),
		row({ cells = [] }, failure, place) {
			const placed = cells.map((cell, at) => placedValue(roleOf?.(at), place) ?? cell).filter((_, at) => kept[at]);
			const more = added.map((role) => placedValue(role, place) ?? "");
			return csvLine([...placed, ...more, ...reasons(failure).map(String)], delimiter);
		},
	};
}

/**
 * Failed rows as JSON lines: the members stand as they stood in the manifest, byte for byte.
 *
 * @param roleOf what a member is for; undefined where rows are written as they stand
 */
export function jsonFailedRows(roleOf?: (member: string) => string | undefined): FailedRowFormat {
	return {
		ending: "jsonl",
		head: "",
		row({ text }, failure, place) {
			const members: string[] = [];
			const missing = new Set<PlacedColumn>(roleOf === undefined || place === undefined ? [] : PLACED);
			for (const [key, { start, end }] of parseMembers(text, MANIFEST_JSON)) {
				if (isFailureColumn(key)) continue;
				const role = roleOf?.(key);
				const value = placedValue(role, place);
				for (const column of PLACED) if (column === role || column === key) missing.delete(column);
				if (value !== undefined) members.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
				// A line feed can only stand between tokens: in a string it is escaped.
				else members.push(text.slice(start, end).replaceAll(/[\r\n]+\s*/g, " "));
			}
			for (const column of missing) members.push(`"${column}":${JSON.stringify(placedValue(column, place))}`);
			const values = reasons(failure);
			for (const [index, name] of FAILURE_COLUMNS.entries()) members.push(`"${name}":${JSON.stringify(values[index])}`);
			return `{${members.join(",")}}\n`;
		},
	};
}

function placedValue(role: string | undefined, place: RowPlace | undefined): string | undefined {
	const placed = PLACED.find((each) => each === role);
	return placed && place?.[ROLES[placed]];
}

function reasons({ line, code, text, attempts }: RowFailure): readonly (string | number)[] {
	return [line, code, text, attempts];
}
