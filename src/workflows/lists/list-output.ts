import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { columnWidths, fits, reportCsvLine, tableLine, tsvLine } from "../../report/list-lines.ts";
import { show } from "../../text/show.ts";

export type Format = "table" | "csv" | "tsv" | "json" | "jsonl";

/** Rows of a table that are buffered to measure its columns. Later rows of a longer list use the same widths. */
const MEASURED = 200;

/** Columns whose cells are typed into the next command, so a table never cuts them. */
const TYPED: ReadonlySet<string> = new Set(["run", "document_id", "dataset_id"]);

export function addFormatOption(command: Command): Command {
	return command.addOption(
		new Option("--format <format>", "table on a terminal, tsv in a pipe").choices([
			"table",
			"csv",
			"tsv",
			"json",
			"jsonl",
		]),
	);
}

/** `--json` is `--format jsonl`, unless a format is named. */
export function chosenFormat(flags: { readonly format?: Format; readonly json?: boolean }): Format | undefined {
	return flags.format ?? (flags.json === true ? "jsonl" : undefined);
}

/** The text forms of a list's items. */
export type ListColumns<Item> = {
	readonly columns: readonly string[];
	/** a cell for each of `columns` */
	readonly cells: (item: Item) => readonly string[];
	/** one JSON object, without a line end */
	readonly json: (item: Item) => string;
	/** columns that a table leaves out on a narrow terminal, in this order */
	readonly spare?: readonly string[];
};

/** Prints items as a table, or in the format that was chosen. Returns their number. */
export async function printList<Item>(
	all: Iterable<Item> | AsyncIterable<Item>,
	shape: ListColumns<Item>,
	format: Format | undefined,
	{ io }: App,
): Promise<number> {
	const { columns } = shape;
	const chosen = format ?? (io.stdoutIsTerminal ? "table" : "tsv");
	const items = untilClosed(all, io);
	let count = 0;
	switch (chosen) {
		case "json":
		case "jsonl": {
			const array = chosen === "json";
			for await (const item of items) {
				const before = array ? (count === 0 ? "[\n" : ",\n") : "";
				await io.out(`${before}${shape.json(item)}${array ? "" : "\n"}`);
				count += 1;
			}
			if (array) await io.out(count === 0 ? "[]\n" : "\n]\n");
			return count;
		}
		case "csv":
		case "tsv": {
			const line = chosen === "csv" ? reportCsvLine : tsvLine;
			for await (const item of items) {
				// Printed only with the first item: a refused list must not look like an empty one.
				if (count === 0) await io.out(line(columns));
				await io.out(line(shape.cells(item)));
				count += 1;
			}
			if (count === 0) await io.out(line(columns));
			return count;
		}
		case "table":
			return printTable(items, shape, io);
	}
}

/** Ends a list whose reader has closed the pipe (`| head`), so that no further pages are requested. */
async function* untilClosed<Item>(items: Iterable<Item> | AsyncIterable<Item>, io: App["io"]): AsyncGenerator<Item> {
	for await (const item of items) {
		if (io.stdoutClosed) return;
		yield item;
	}
}

async function printTable<Item>(
	items: AsyncIterable<Item>,
	{ columns, cells, spare = [] }: ListColumns<Item>,
	io: App["io"],
): Promise<number> {
	const width = io.stdoutIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
	let buffered: (readonly string[])[] | undefined = [];
	let layout: Layout = { shown: [], widths: [] };
	let count = 0;
	const line = (row: readonly string[]): string =>
		tableLine(
			layout.shown.map((column) => row[column] ?? ""),
			layout.widths,
		);
	const begin = async (rows: readonly (readonly string[])[]): Promise<void> => {
		layout = layoutOf(columns, rows, spare, width);
		await io.out(io.style.bold(line(columns).trimEnd()) + "\n");
		for (const row of rows) await io.out(line(row));
	};
	for await (const item of items) {
		count += 1;
		// Foreign text must not control this terminal.
		const row = cells(item).map((cell) => show(io.masked(cell)));
		if (buffered === undefined) await io.out(line(row));
		else if (buffered.push(row) >= MEASURED) {
			await begin(buffered);
			buffered = undefined;
		}
	}
	if (buffered !== undefined) await begin(buffered);
	return count;
}

/** The columns that a table shows, by index, and their widths. */
type Layout = { readonly shown: readonly number[]; readonly widths: readonly number[] };

function layoutOf(
	columns: readonly string[],
	rows: readonly (readonly string[])[],
	spare: readonly string[],
	width: number,
): Layout {
	for (let left = 0; ; left++) {
		const without = new Set(spare.slice(0, left));
		const shown = [...columns.keys()].filter((column) => !without.has(columns[column] ?? ""));
		const whole = new Set([...shown.keys()].filter((at) => TYPED.has(columns[shown[at] ?? 0] ?? "")));
		const table = [columns, ...rows].map((row) => shown.map((column) => row[column] ?? ""));
		const widths = columnWidths(table, width, whole);
		if (left >= spare.length || fits(widths, width)) return { shown, widths };
	}
}
