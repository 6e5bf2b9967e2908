import { wrapped } from "./table.ts";

/** How words are marked on a terminal. Functions that change nothing leave the marks of Markdown. */
type PageStyle = { readonly bold: (text: string) => string; readonly cyan: (text: string) => string };

/** No line of prose is longer, however wide the terminal is. */
const WIDEST = 100;

/** Nor is it shorter, however narrow the terminal is. */
const NARROWEST = 12;

const ITEM_INDENT = 2;
const CODE_INDENT = "    ";
const HEADING = /^#{1,6} /;
const FENCE = /^\s*```/;
const TABLE = /^\s*\|/;
const ITEM = /^(?<indent>\s*)(?<mark>[-*]|\d+\.) +/;
const INLINE =
	/(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)|\*\*(?<bold>.+?)\*\*|\[(?<link>(?:`[^`]*`|[^\]`])+)\]\((?<target>[^)]*)\)/;

/**
 * A page of the documentation for a terminal: paragraphs, lists and tables are wrapped to its width, code keeps its lines.
 *
 * @param markdown of the kind that `docs/` has: headings, paragraphs, lists, fenced code, tables, links
 * @param width of the terminal, in columns
 */
export function pageForTerminal(markdown: string, width: number, style: PageStyle): string {
	const room = Math.max(NARROWEST, Math.min(width, WIDEST));
	const lines = markdown.trimEnd().split("\n");
	const shown: string[] = [];
	/** The next lines, as long as they go on with the block. */
	const take = (goesOn: (line: string) => boolean): string[] => {
		const end = lines.findIndex((line) => !goesOn(line));
		return lines.splice(0, end === -1 ? lines.length : end);
	};
	for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
		if (FENCE.test(line)) {
			shown.push(...take((each) => !FENCE.test(each)).map((each) => (each === "" ? "" : CODE_INDENT + each)));
			lines.shift();
		} else if (TABLE.test(line)) {
			shown.push(...table([line, ...take((each) => TABLE.test(each))].map(cellsOf), room, style));
		} else if (HEADING.test(line)) {
			shown.push(style.bold(isPlain(style) ? line : inline(line.replace(HEADING, ""), style)));
		} else if (line.trim() === "") {
			shown.push("");
		} else {
			const { indent = "", mark = "" } = ITEM.exec(line)?.groups ?? {};
			const first = mark === "" ? (/^\s*/.exec(line)?.[0] ?? "") : `${indent}${mark} `;
			const text = [line.replace(ITEM, ""), ...take(isText)].map((each) => each.trim()).join(" ");
			shown.push(...hanging(first, wrapped(inline(text, style), room - first.length)));
		}
	}
	return `${shown.join("\n")}\n`;
}

function isText(line: string): boolean {
	return line.trim() !== "" && ![FENCE, TABLE, HEADING, ITEM].some((block) => block.test(line));
}

function isPlain({ bold }: PageStyle): boolean {
	return bold("a") === "a";
}

/** Each word has its own marks, so that a line may end between any two. */
function inline(text: string, style: PageStyle): string {
	const byWord = (words: string, mark: (word: string) => string): string =>
		words.trim().split(/\s+/).map(mark).join(" ");
	return text.replaceAll(new RegExp(INLINE, "g"), (whole: string) => {
		const { code, bold = "", link, target = "" } = INLINE.exec(whole)?.groups ?? {};
		if (link !== undefined) {
			const name = inline(link, style);
			return /^https?:/.test(target) && link !== target ? `${name} (${target})` : name;
		}
		if (isPlain(style)) return whole;
		return code === undefined ? byWord(inline(bold, style), style.bold) : byWord(code, style.cyan);
	});
}

function hanging(first: string, lines: readonly string[]): string[] {
	return lines.map((line, at) => (at === 0 ? first : " ".repeat(first.length)) + line);
}

function cellsOf(line: string): string[] {
	const cells = line.trim().replace(/^\|/, "").replace(/\|$/, "");
	return cells.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
}

/** Each row as an item, with the names of its columns: most tables of the pages are wider than a terminal. */
function table(rows: readonly (readonly string[])[], room: number, style: PageStyle): string[] {
	const [head = [], ...body] = rows
		.filter((row) => !row.every((cell) => /^:?-+:?$/.test(cell)))
		.map((row) => row.map((cell) => inline(cell, style)));
	return body.flatMap((row) =>
		row.flatMap((cell, at) => {
			if (cell === "") return [];
			const name = at === 0 || (head[at] ?? "") === "" ? "" : `${head[at]}: `;
			return hanging(at === 0 ? "- " : "  ", wrapped(`${name}${cell}`, room - ITEM_INDENT));
		}),
	);
}
