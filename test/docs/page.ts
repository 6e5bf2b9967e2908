/** A command of a page and what the page says that it prints. Lines are counted from 0. */
export type Typed = {
	/** as bash takes it, all its lines */
	readonly command: string;
	readonly printed: string;
	/** the lines of the page that hold `printed`: from the first up to, and without, the last */
	readonly from: number;
	readonly to: number;
};

/** A fenced block of a page: the word behind its fence, and its text. */
export type Block = { readonly fence: string; readonly line: number; readonly text: string };

const PROMPT = "$ ";
const HERE_DOCUMENT = /<<'(\w+)'/;

/** Every fenced block of a page, in order. */
export function blocksOf(page: string): Block[] {
	const lines = page.split("\n");
	const blocks: Block[] = [];
	let open: { fence: string; line: number } | undefined;
	for (const [index, line] of lines.entries()) {
		if (!line.startsWith("```")) continue;
		if (open === undefined) open = { fence: line.slice(3), line: index + 1 };
		else {
			blocks.push({ ...open, text: lines.slice(open.line, index).join("\n") });
			open = undefined;
		}
	}
	if (open !== undefined) throw new Error(`the block at line ${open.line} has no end`);
	return blocks;
}

/** The commands of all `console` blocks of a page, in order. */
export function commandsOf(page: string): Typed[] {
	return blocksOf(page)
		.filter(({ fence }) => fence === "console")
		.flatMap(({ line, text }) => commandsIn(text.split("\n"), line));
}

function commandsIn(lines: readonly string[], first: number): Typed[] {
	const commands: Typed[] = [];
	if (lines[0]?.startsWith(PROMPT) !== true) throw new Error(`the block at line ${first} does not begin with "$ "`);
	let index = 0;
	while (index < lines.length) {
		const begin = index;
		const end = HERE_DOCUMENT.exec(lines[index] ?? "")?.[1];
		if (end !== undefined) while (lines[index] !== end && index < lines.length) index++;
		while (lines[index]?.endsWith("\\") === true) index++;
		const command = lines.slice(begin, ++index).join("\n").slice(PROMPT.length);
		const from = index;
		while (index < lines.length && lines[index]?.startsWith(PROMPT) === false) index++;
		const printed = lines.slice(from, index).map((line) => `${line}\n`);
		commands.push({ command, printed: printed.join(""), from: first + from, to: first + index });
	}
	return commands;
}

/** The page with other texts in the place of those that its commands printed. */
export function rewritten(page: string, printed: ReadonlyMap<Typed, string>): string {
	const lines = page.split("\n");
	for (const [{ from, to }, text] of [...printed].toReversed()) {
		lines.splice(from, to - from, ...text.split("\n").slice(0, -1));
	}
	return lines.join("\n");
}
