import stringWidth from "string-width";
import { cutToWidth } from "../text/show.ts";

/** Blank columns between two columns of a table. */
const GAP = 2;
const BLANKS = " ".repeat(GAP);

/** Width that a longer cell keeps as long as there are columns to leave out. */
const READABLE = 8;

/** Columns that a column keeps where not even the readable widths fit. */
const MIN_WIDTH = 4;

const NUMBER = /^-?[\d.,]*\d(?: (?:B|[kMGTP]B))?$/;

/** The facts about a column that a table needs. */
export type Column = {
	readonly name: string;
	/** its cells are typed into the next command, so they are never cut */
	readonly isTyped?: boolean;
	/** for a column that is shown only where it fits: the lowest number is the first that is tried */
	readonly spare?: number;
	/** width that a longer cell keeps as long as there are columns to leave out */
	readonly readable?: number | undefined;
	/** width that a longer cell gets before other columns are tried, as far as the typed ones leave it */
	readonly preferred?: number;
};

/**
 * Lays a table out by its first rows. Columns that can be spared are left out until all others are readable, then the widest
 * columns are narrowed. Where a typed last column leaves nothing else to read, its cells stand on lines of their own.
 *
 * @param width of the terminal, in columns
 * @returns a row of the table, without the line end of its last line; a longer cell of a typed column is printed whole
 */
export function tableOf(
	columns: readonly Column[],
	rows: readonly (readonly string[])[],
	width: number,
): (cells: readonly string[]) => string {
	const wanted = columns.map(({ name }, at) =>
		rows.reduce((most, row) => Math.max(most, stringWidth(row[at] ?? "")), stringWidth(name)),
	);
	const isTyped = (at: number): boolean => columns[at]?.isTyped === true;
	const besideTyped = width - lineWidth([...wanted.filter((_each, at) => isTyped(at)), 0]);
	const needed = wanted.map((each, at) => {
		const { readable = READABLE, preferred = 0 } = columns[at] ?? {};
		return isTyped(at) ? each : Math.min(each, Math.max(readable, Math.min(preferred, besideTyped)));
	});
	const isSpare = (at: number): boolean => columns[at]?.spare !== undefined;
	const fits = (some: readonly number[]): boolean => lineWidth(some.map((at) => needed[at] ?? 0)) <= width;
	let shown = [...columns.keys()].filter((at) => !isSpare(at));
	const spared = [...columns.keys()].filter(isSpare);
	for (const at of spared.toSorted((one, other) => (columns[one]?.spare ?? 0) - (columns[other]?.spare ?? 0))) {
		const more = [...shown, at].toSorted((one, other) => one - other);
		if (fits(more)) shown = more;
	}
	const last = columns.length - 1;
	if (last > 0 && isTyped(last) && !fits(shown)) {
		const line = tableOf(columns.slice(0, last), rows, width);
		return (cells) => `${line(cells)}\n${BLANKS}${cells[last] ?? ""}`;
	}
	const right = new Set(shown.filter((at) => !isTyped(at) && areNumbers(rows.map((row) => row[at] ?? ""))));
	const least = shown.map((at) => (fits(shown) || isTyped(at) ? (needed[at] ?? 0) : MIN_WIDTH));
	const widths = columnWidths(
		shown.map((at) => wanted[at] ?? 0),
		width,
		least,
	);
	return (cells) => {
		const padded = shown.map((at, index) => {
			const [cell, room] = [cells[at] ?? "", widths[index] ?? 0];
			const text = isTyped(at) ? cell : withEllipsis(cell, room);
			const blanks = " ".repeat(Math.max(0, room - stringWidth(text)));
			return right.has(at) ? blanks + text : text + blanks;
		});
		return padded.join(BLANKS).trimEnd();
	};
}

/**
 * Column widths that fit `width`, as far as they may be narrowed. The widest columns are narrowed first.
 *
 * @param wanted the widths of the longest cells
 * @param least the width of each column that it is never narrowed below
 */
function columnWidths(wanted: readonly number[], width: number, least: readonly number[]): number[] {
	const widths = [...wanted];
	for (let surplus = lineWidth(widths) - width; surplus > 0; surplus -= 1) {
		const giving = widths.map((each, column) => (each > (least[column] ?? 0) ? each : 0));
		const widest = Math.max(...giving, 0);
		if (widest === 0) break;
		widths[giving.indexOf(widest)] = widest - 1;
	}
	return widths;
}

function lineWidth(widths: readonly number[]): number {
	return widths.reduce((sum, each) => sum + each, GAP * Math.max(0, widths.length - 1));
}

function areNumbers(cells: readonly string[]): boolean {
	return cells.some((cell) => cell !== "") && cells.every((cell) => cell === "" || NUMBER.test(cell));
}

/** Breaks a text between words. A wider word gets a line of its own, unbroken: it may be an address to copy. */
export function wrapped(text: string, width: number): string[] {
	const lines: string[] = [];
	let line = "";
	let used = 0;
	for (const word of text.split(" ")) {
		const length = stringWidth(word);
		if (used > 0 && used + 1 + length > width) {
			lines.push(line);
			[line, used] = [word, length];
		} else [line, used] = used === 0 ? [word, length] : [`${line} ${word}`, used + 1 + length];
	}
	return [...lines, line];
}

/** A text cut to a width in columns, with an ellipsis where something is left out. */
function withEllipsis(text: string, width: number): string {
	if (stringWidth(text) <= width) return text;
	return `${cutToWidth(text, width - 1, stringWidth)}…`;
}
