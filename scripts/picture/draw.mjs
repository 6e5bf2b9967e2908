/** Pixels. A character of the fonts below is 0.6 of their size wide. */
const FONT = 14;
const CHARACTER = FONT * 0.6;
const LINE = 20;
const MARGIN = 16;

/** The first eight colours of a terminal, on a dark ground, and the same when bright. */
const COLORS = ["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#d0d7de"];

/** The screen as a picture that any browser shows, and whose text can be found and read aloud. */
export function drawn(lines, columns) {
	const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
	const height = lines.length * LINE + 2 * MARGIN;
	const texts = lines.flatMap((pieces, y) => (pieces.length === 0 ? [] : [lineOf(pieces, MARGIN + y * LINE + FONT)]));
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="A terminal with the commands of this page">`,
		`<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
		`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${FONT}" fill="#e6edf3">`,
		...texts,
		"</g>",
		"</svg>",
		"",
	].join("\n");
}

function lineOf(pieces, y) {
	let column = 0;
	const spans = pieces.map(({ text, bold, dim, color }) => {
		const styles = [
			`x="${round(MARGIN + column * CHARACTER)}"`,
			// Whatever font a machine has, a piece is as wide as its characters.
			`textLength="${round([...text].length * CHARACTER)}"`,
			...(bold ? ['font-weight="bold"'] : []),
			...(dim ? ['opacity="0.7"'] : []),
			...(color === undefined ? [] : [`fill="${COLORS[color % 8]}"`]),
		];
		column += [...text].length;
		return `<tspan ${styles.join(" ")}>${escaped(text)}</tspan>`;
	});
	return `<text y="${y}">${spans.join("")}</text>`;
}

const round = (pixels) => Math.round(pixels * 10) / 10;

/** Spaces at the begin and in a row stay only as these. */
const NO_BREAK = "\u{a0}";

const escaped = (text) =>
	text.replaceAll(" ", NO_BREAK).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Lines that a command adds on a busy machine alone, each with the rest that did not fit in the width. */
const OF_SLOW_RUNS = /^(?:rate: |The oldest reading of a document ).*\n(?:[a-z].*\n)?/gm;

/** The words of a picture without what differs from run to run: numbers, ids, and why a busy machine was slow. */
export function words(picture) {
	return [...picture.matchAll(/<text [^>]*>(.*?)<\/text>/g)]
		.map(([, line = ""]) => `${line.replaceAll(/<[^>]*>/g, "").replaceAll(NO_BREAK, " ")}\n`)
		.join("")
		.replaceAll(OF_SLOW_RUNS, "")
		.replaceAll(/\b[0-9a-f]{32}\b|\d{8}T\d{6}-[0-9a-f]{6}|\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "ID")
		.replaceAll(/[\d.]+ /g, "N ");
}
