import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { columnWidths, fits, reportCsvLine, tableLine, tsvLine } from "../../report/list-lines.ts";
import { show } from "../../text/show.ts";

export type Format = "table" | "csv" | "tsv" | "json" | "jsonl";

/** Rows of a table that are held to find its column widths; a longer list keeps the widths of the first. */
const MEASURED = 200;

/** Columns whose cells are typed into the next command: a table never cuts them. */
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

/** Prints entries as a table, or in the format that was chosen. Returns how many there were. */
export async function printList<Item>(
	all: AsyncIterable<Item>,
	columns: readonly string[],
	faces: {
		readonly cells: (item: Item) => readonly string[];
		readonly json: (item: Item) => string;
		/** columns that a table leaves out where the terminal is too narrow for all, the first first */
		readonly spare?: readonly string[];
	},
	format: Format | undefined,
	{ io }: App,
): Promise<number> {
	const chosen = format ?? (io.stdoutIsTerminal ? "table" : "tsv");
	const items = untilClosed(all, io);
	let count = 0;
	switch (chosen) {
		case "json":
		case "jsonl": {
			const array = chosen === "json";
			for await (const item of items) {
				const before = array ? (count === 0 ? "[\n" : ",\n") : "";
				await io.out(`${before}${faces.json(item)}${array ? "" : "\n"}`);
				count += 1;
			}
			if (array) await io.out(count === 0 ? "[]\n" : "\n]\n");
			return count;
		}
		case "csv":
		case "tsv": {
			const line = chosen === "csv" ? reportCsvLine : tsvLine;
			for await (const item of items) {
				// Not before the first answer: a list that was refused is not an empty one.
				if (count === 0) await io.out(line(columns));
				await io.out(line(faces.cells(item)));
				count += 1;
			}
			if (count === 0) await io.out(line(columns));
			return count;
		}
		case "table":
			return printTable(items, columns, faces, io);
	}
}

/** Ends a list whose reader has gone (`| head`): nobody asks the service for pages that nobody sees. */
async function* untilClosed<Item>(items: AsyncIterable<Item>, io: App["io"]): AsyncGenerator<Item> {
	for await (const item of items) {
		if (io.stdoutClosed) return;
		yield item;
	}
}

async function printTable<Item>(
	items: AsyncIterable<Item>,
	columns: readonly string[],
	{ cells, spare = [] }: { readonly cells: (item: Item) => readonly string[]; readonly spare?: readonly string[] },
	io: App["io"],
): Promise<number> {
	const width = io.stdoutIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
	let held: (readonly string[])[] | undefined = [];
	let shape: Shape = { shown: [], widths: [] };
	let count = 0;
	const line = (row: readonly string[]): string =>
		tableLine(
			shape.shown.map((column) => row[column] ?? ""),
			shape.widths,
		);
	const begin = async (rows: readonly (readonly string[])[]): Promise<void> => {
		shape = shapeOf(columns, rows, spare, width);
		await io.out(io.style.bold(line(columns).trimEnd()) + "\n");
		for (const row of rows) await io.out(line(row));
	};
	for await (const item of items) {
		count += 1;
		// What a service or another user wrote must not steer this terminal.
		const row = cells(item).map((cell) => show(io.masked(cell)));
		if (held === undefined) await io.out(line(row));
		else if (held.push(row) >= MEASURED) {
			await begin(held);
			held = undefined;
		}
	}
	if (held !== undefined) await begin(held);
	return count;
}

/** Which columns a table shows, by their places, and how wide. */
type Shape = { readonly shown: readonly number[]; readonly widths: readonly number[] };

function shapeOf(
	columns: readonly string[],
	rows: readonly (readonly string[])[],
	spare: readonly string[],
	width: number,
): Shape {
	for (let left = 0; ; left++) {
		const without = new Set(spare.slice(0, left));
		const shown = [...columns.keys()].filter((column) => !without.has(columns[column] ?? ""));
		const whole = new Set([...shown.keys()].filter((at) => TYPED.has(columns[shown[at] ?? 0] ?? "")));
		const table = [columns, ...rows].map((row) => shown.map((column) => row[column] ?? ""));
		const widths = columnWidths(table, width, whole);
		if (left >= spare.length || fits(widths, width)) return { shown, widths };
	}
}
