import xterm from "@xterm/headless";

/** Lines that a terminal keeps: more than any picture shows. */
const ROWS = 60;

/**
 * What a terminal shows after it got these bytes: lines of pieces of text, each in one style. A colour is a number of the
 * terminal's palette; undefined is its own.
 */
export async function screenOf(written, columns) {
	const terminal = new xterm.Terminal({ cols: columns, rows: ROWS, allowProposedApi: true });
	await new Promise((resolve) => terminal.write(written, resolve));
	const { active } = terminal.buffer;
	const lines = Array.from({ length: active.length }, (_, y) => piecesOf(active.getLine(y), columns));
	while (lines.at(-1)?.every(({ text }) => text.trim() === "")) lines.pop();
	return lines;
}

function piecesOf(line, columns) {
	const pieces = [];
	for (let x = 0; x < columns; x += 1) {
		const cell = line.getCell(x);
		const style = {
			bold: cell.isBold() !== 0,
			dim: cell.isDim() !== 0,
			color: cell.isFgPalette() ? cell.getFgColor() : undefined,
		};
		const last = pieces.at(-1);
		// Wide characters take two cells, the second of which is empty.
		const text = cell.getChars() || (cell.getWidth() === 0 ? "" : " ");
		if (last !== undefined && ["bold", "dim", "color"].every((name) => last[name] === style[name])) last.text += text;
		else pieces.push({ ...style, text });
	}
	const last = pieces.at(-1);
	if (last !== undefined) last.text = last.text.trimEnd();
	return pieces.filter(({ text }) => text !== "");
}
