import type { App } from "../../app.ts";
import { oneOf, toggle } from "../../flags/declare.ts";
import type { Given } from "../../flags/flags.ts";
import { reportCsvLine, tsvLine } from "../../report/escape.ts";
import { type Column, tableOf } from "../../report/table.ts";
import { show } from "../../text/show.ts";
import { localTimeText, TIME_WIDTH } from "../../text/words.ts";

const FORMATS = ["table", "csv", "tsv", "json", "jsonl"] as const;

export type Format = (typeof FORMATS)[number];

/**
 * Items that are held until the columns of their table are laid out. Items after them get the same columns, so memory does not
 * grow with the list, and a long list is printed while it is read.
 */
const FIRST_ITEMS = 1_000;

/** The most characters of a cell: more than most terminals have columns. */
const LONGEST_CELL = 200;

export const FORMAT = { format: oneOf("--format <format>", FORMATS, "table on a terminal, tsv in a pipe") };

/** Options of commands that print a list. */
export const LIST = { ...FORMAT, json: toggle("--json", "JSON lines, the same as --format jsonl") };

/** `--json` is `--format jsonl`, and `--wide` a table, unless a format is named. */
export function chosenFormat(flags: Given<{ format: Format; json: boolean; wide: boolean }>): Format | undefined {
	return flags.format ?? (flags.json === true ? "jsonl" : flags.wide === true ? "table" : undefined);
}

/** A column of a list. */
export type ListColumn<Item> = Column & {
	readonly cell: (item: Item) => string;
	/** its cells in a table, where they are others */
	readonly inTable?: (item: Item) => string;
};

/** The text forms of a list's items. */
export type ListShape<Item> = {
	readonly columns: readonly ListColumn<Item>[];
	/** one JSON object, without a line end */
	readonly json: (item: Item) => string;
	/** the columns of a table, where they are others; chosen by the first items of the list */
	readonly table?: ((first: readonly Item[]) => readonly ListColumn<Item>[]) | undefined;
	/** a table cuts nothing and leaves nothing out, however narrow the terminal is */
	readonly isWide?: boolean;
};

/** A column of times: ISO in every format, and in a table those of this machine. */
export function timeColumn<Item>(name: string, time: (item: Item) => string): ListColumn<Item> {
	const local = (text: string): string => (text === "" ? "" : localTimeText(new Date(text)));
	return { name, cell: time, inTable: (item) => local(time(item)), readable: TIME_WIDTH };
}

/** Whether a list is printed as a table. */
export function isTable(format: Format | undefined, { stdoutIsTerminal }: App["io"]): boolean {
	return format === "table" || (format === undefined && stdoutIsTerminal);
}

/** Prints items as a table, or in the format that was chosen. Returns their number. */
export async function printList<Item>(
	all: Iterable<Item> | AsyncIterable<Item>,
	shape: ListShape<Item>,
	format: Format | undefined,
	{ io }: App,
): Promise<number> {
	const chosen = format ?? (isTable(format, io) ? "table" : "tsv");
	const items = untilClosed(all, io);
	if (chosen === "table") return printTable(items, shape, io);
	const { head = "", each, between = "", end = "", empty = head } = textForm(chosen, shape);
	// The default format is read by people, also where a runner reads it first.
	const print = (text: string): Promise<void> => (format === undefined ? io.print(text) : io.out(text));
	let count = 0;
	for await (const item of items) {
		// The head comes only with the first item: a refused list must not look like an empty one.
		await print(`${count === 0 ? head : between}${each(item)}`);
		count += 1;
	}
	const last = count === 0 ? empty : end;
	if (last !== "") await print(last);
	return count;
}

/** The texts of a list that is no table. `empty` is a whole list without items. */
type TextForm<Item> = { readonly each: (item: Item) => string } & Given<
	Record<"head" | "between" | "end" | "empty", string>
>;

function textForm<Item>(format: Exclude<Format, "table">, { columns, json }: ListShape<Item>): TextForm<Item> {
	if (format === "json") return { head: "[\n", each: json, between: ",\n", end: "\n]\n", empty: "[]\n" };
	if (format === "jsonl") return { each: (item) => `${json(item)}\n` };
	const line = format === "csv" ? reportCsvLine : tsvLine;
	const each = (item: Item): string => line(columns.map(({ cell }) => cell(item)));
	return { head: line(columns.map(({ name }) => name)), each };
}

/** Ends a list whose reader has closed the pipe (`| head`), so that no further pages are requested. */
async function* untilClosed<Item>(items: Iterable<Item> | AsyncIterable<Item>, io: App["io"]): AsyncGenerator<Item> {
	for await (const item of items) {
		if (io.stdoutClosed) return;
		yield item;
	}
}

async function printTable<Item>(items: AsyncGenerator<Item>, shape: ListShape<Item>, io: App["io"]): Promise<number> {
	const width = io.stdoutIsTerminal && shape.isWide !== true ? io.columns : Number.POSITIVE_INFINITY;
	const first: Item[] = [];
	for (let next = await items.next(); next.done !== true; next = await items.next()) {
		if (first.push(next.value) === FIRST_ITEMS) break;
	}
	// Foreign text must not control this terminal.
	const safe = (text: string): string => show(io.masked(text), LONGEST_CELL);
	const columns = (shape.table?.(first) ?? shape.columns).map((column) => ({ ...column, name: safe(column.name) }));
	const cellsOf = (item: Item): string[] => columns.map(({ cell, inTable = cell }) => safe(inTable(item)));
	const rows = first.map(cellsOf);
	const line = tableOf(columns, rows, width);
	await io.print(`${io.style.bold(line(columns.map(({ name }) => name)))}\n`);
	for (const row of rows) await io.print(`${line(row)}\n`);
	let count = rows.length;
	for await (const item of items) {
		await io.print(`${line(cellsOf(item))}\n`);
		count += 1;
	}
	return count;
}
