import { durationText, numberText } from "../../text/words.ts";
import { html } from "./escape.ts";
import type { Chart, ChartBand, ChartLine } from "./chart.ts";

/** The picture's own units. It is stretched to the width of the page, so it holds no text. */
const WIDTH = 1000;
const HEIGHT = 200;

const BAND_WORDS: Readonly<Record<ChartBand["state"], string>> = {
	outage: "outage",
	paused: "paused by the user",
	waiting: "waiting (Retry-After)",
	slowed: "slowed",
};

/**
 * A chart as a picture of lines with its labels around it, which needs no script. The labels are HTML, because text in a
 * stretched picture can't be read on a narrow screen.
 */
export function chartFigure(chart: Chart): string {
	const { id, title, description, bands, resumed } = chart;
	const middle = chart.bottom === undefined ? chart.top / 2 : Math.sqrt(chart.top * chart.bottom);
	const ys = [chart.top, middle, chart.bottom ?? 0].map((value) => `<span>${numberText(short(value))}</span>`);
	const xs = [0, 0.25, 0.5, 0.75, 1].map((share) => `<span>${durationShort(share * chart.end)}</span>`);
	const legend = [
		...chart.lines.map(({ label, kind, tone }) => key(`${kind} ${tone}`, label)),
		...[...new Set(bands.map(({ state }) => state))].map((state) => key(`band ${state}`, BAND_WORDS[state])),
		...(resumed.length === 0 ? [] : [key("resumed", "resumed here")]),
	];
	return `<figure class="chart" id="${id}">
<figcaption><h3>${html(title)}</h3><ul class="legend">${legend.join("")}</ul></figcaption>
<div class="live" hidden></div>
<div class="still"><div class="y" aria-hidden="true">${ys.join("")}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${html(`${title}. ${description}.`)}">
${shapes(chart)}
</svg>
<div class="x" aria-hidden="true">${xs.join("")}</div></div>
</figure>
`;
}

function key(classes: string, label: string): string {
	return `<li><i class="key ${classes}"></i>${html(label, 60)}</li>`;
}

function shapes(chart: Chart): string {
	const { bands, resumed, lines } = chart;
	const x = (value: number): number => round((value / chart.end) * WIDTH);
	const rects = bands.map(({ state, from, to }) => {
		return `<rect class="band ${state}" x="${x(from)}" y="0" width="${Math.max(1, round(x(to) - x(from)))}" height="${HEIGHT}"/>`;
	});
	const grid = [0, 0.5, 1].map((share) => `<path class="grid" d="M0 ${share * HEIGHT}H${WIDTH}"/>`);
	const marks = resumed.map((at) => `<path class="resumed" d="M${x(at)} 0V${HEIGHT}"/>`);
	const bars = lines.filter(({ kind }) => kind === "bar");
	const curves = lines.filter(({ kind }) => kind !== "bar").toReversed();
	return [...rects, ...grid, ...marks, ...barPaths(chart, bars), ...curves.map((line) => curve(chart, line))].join(
		"\n",
	);
}

function curve(chart: Chart, { kind, tone, values }: ChartLine): string {
	let path = "";
	let isDown = false;
	for (const [at, value] of values.entries()) {
		const left = chart.x[at];
		if (value === null || left === undefined) {
			isDown = false;
			continue;
		}
		path += `${isDown ? "L" : "M"}${round((left / chart.end) * WIDTH)} ${heightOf(chart, value)}`;
		// A point between two gaps would be invisible.
		if (!isDown && (values[at + 1] ?? null) === null) path += "h1";
		isDown = true;
	}
	return `<path class="${kind} ${tone}" d="${path}"/>`;
}

/** Each line stands on those before it. */
function barPaths(chart: Chart, lines: readonly ChartLine[]): string[] {
	const below: number[] = chart.x.map(() => 0);
	return lines.map(({ tone, values }) => {
		let path = "";
		for (const [at, value] of values.entries()) {
			const [from, to] = edges(chart, at);
			const base = below[at] ?? 0;
			if (value === null || value === 0) continue;
			below[at] = base + value;
			const width = Math.max(2, round(((to - from) / chart.end) * WIDTH));
			const left = round((from / chart.end) * WIDTH);
			path += `M${left} ${heightOf(chart, base)}V${heightOf(chart, base + value)}h${width}V${heightOf(chart, base)}z`;
		}
		return `<path class="bar ${tone}" d="${path}"/>`;
	});
}

/** The seconds that a point covers, from half-way between its neighbours. */
function edges({ x, end }: Chart, at: number): readonly [number, number] {
	const here = x[at] ?? 0;
	const [before, after] = [x[at - 1] ?? 0, x[at + 1] ?? end];
	return [at === 0 ? 0 : (before + here) / 2, at === x.length - 1 ? end : (here + after) / 2];
}

function heightOf({ top, bottom }: Chart, value: number): number {
	const share =
		bottom === undefined ? value / top : Math.log(Math.max(value, bottom) / bottom) / Math.log(top / bottom);
	return round(HEIGHT * (1 - Math.min(1, share)));
}

function round(value: number): number {
	return Math.round(value * 10) / 10;
}

function short(value: number): number {
	return Number(value.toPrecision(3));
}

/** `0`, `45 s`, `3 min 05 s`. */
function durationShort(seconds: number): string {
	if (seconds === 0) return "0";
	return seconds < 59.5 ? `${Number(seconds.toPrecision(2))} s` : durationText(seconds);
}
