import type { SeriesPoint } from "../../run/series/series-file.ts";
import { durationText, numberText } from "../../text/words.ts";

/** The rate of a run against its cap, in requests a second. */
export type Chart = NonNullable<ReturnType<typeof chartOf>>;

/** A line of the chart, one value for each x. */
type ChartLine = { readonly label: "sent" | "cap"; readonly values: readonly (number | null)[] };

/** A time in which a run was held up. */
type ChartBand = { readonly state: keyof typeof BAND_WORDS; readonly from: number; readonly to: number };

/** In words; of several in one point, the last of them counts. */
const BAND_WORDS = {
	slowed: "slowed",
	waiting: "waiting (Retry-After)",
	paused: "paused by the user",
	outage: "outage",
} as const;

function isBand(state: string): state is ChartBand["state"] {
	return state in BAND_WORDS;
}

/** Points of the chart: a screen has few more columns. */
const MOST_POINTS = 600;

/** Seconds between two points from which a later execution made the second. */
const PAUSE_S = 5;

/** Seconds below which chance decides how many requests fall into a point: it has one rate with the point before it. */
const LEAST_S = 0.5;

/** Points below which there is nothing to see. */
const LEAST_POINTS = 3;

/** The rate of a run against its cap, and when it was held up. Undefined for a run of two seconds. */
export function chartOf(series: readonly SeriesPoint[]) {
	if (series.length < LEAST_POINTS) return undefined;
	const points = condensed(series);
	const caps = points.map(({ cap }) => cap);
	const rates = points.map((point, at) => {
		const before = point.s < LEAST_S ? points[at - 1] : undefined;
		const [sent, s] = [point.sent + (before?.sent ?? 0), point.s + (before?.s ?? 0)];
		return s > 0 ? rounded(sent / s) : null;
	});
	const lines: ChartLine[] = [{ label: "sent", values: rates }];
	if (caps.some((cap) => cap !== null)) lines.push({ label: "cap", values: caps });
	return { ...axisOf(points), top: topOf([...rates, ...caps]), lines };
}

type Point = Pick<SeriesPoint, "t" | "s" | "sent" | "cap" | "state">;

/** The points with as little resolution as needed. Their counts and seconds are exact. */
function condensed(series: readonly SeriesPoint[]): readonly Point[] {
	const size = Math.ceil(series.length / MOST_POINTS);
	const points: Point[] = [];
	for (let at = 0; at < series.length; at += size) {
		const [first, ...others] = series.slice(at, at + size);
		if (first !== undefined) points.push(others.reduce<Point>(joined, first));
	}
	return points;
}

function joined(one: Point, next: Point): Point {
	const states = [one, next].map(({ state }) => state);
	const state =
		Object.keys(BAND_WORDS)
			.filter(isBand)
			.findLast((band) => states.includes(band)) ?? next.state;
	return { t: next.t, s: rounded(one.s + next.s), sent: one.sent + next.sent, cap: next.cap, state };
}

/** The points one after the other: a night between two executions would leave no room for either. */
function axisOf(points: readonly Point[]) {
	/** seconds of the run, without the pauses between executions */
	const x: number[] = [];
	const bands: ChartBand[] = [];
	/** where a later execution resumed the run */
	const resumed: number[] = [];
	let end = 0;
	let last: Point | undefined;
	for (const point of points) {
		const { s, t, state } = point;
		if (last !== undefined && t - s - last.t > PAUSE_S) resumed.push(rounded(end));
		const from = rounded(end);
		end += s;
		last = point;
		x.push(rounded(end - s / 2));
		if (!isBand(state)) continue;
		const band = bands.at(-1);
		if (band?.state === state && band.to === from) bands[bands.length - 1] = { ...band, to: rounded(end) };
		else bands.push({ state, from, to: rounded(end) });
	}
	return { x, end: Math.max(rounded(end), 1), bands, resumed };
}

/** An end of the axis whose half is a round number too. */
function topOf(values: readonly (number | null)[]): number {
	const most = values.reduce<number>((a, b) => Math.max(a, b ?? 0), 0);
	if (most <= 2) return 2;
	const power = 10 ** Math.floor(Math.log10(most));
	const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= most * 1.05) ?? 20;
	return rounded(step * power);
}

function rounded(value: number): number {
	return Math.round(value * 1000) / 1000;
}

/** The picture's own units. It is stretched to the width of the page, so it holds no text. */
const WIDTH = 1000;
const HEIGHT = 200;

/** The chart as a picture of lines with its labels around it: text in a stretched picture can't be read on a narrow screen. */
export function chartFigure({ end, top, bands, resumed, ...chart }: Chart): string {
	const states = [...new Set(bands.map(({ state }) => state))];
	const legend = [
		...chart.lines.map(({ label }) => key(label, label)),
		...states.map((state) => key(`band ${state}`, BAND_WORDS[state])),
		...(resumed.length === 0 ? [] : [key("resumed", "resumed here")]),
	];
	const ys = [top, top / 2, 0].map((value) => `<span>${numberText(Number(value.toPrecision(3)))}</span>`);
	const xs = [0, 0.25, 0.5, 0.75, 1].map((share) => `<span>${durationShort(share * end)}</span>`);
	const x = (value: number): number => tenths((value / end) * WIDTH);
	const shapes = [
		...bands.map(({ state, from, to }) => {
			const width = Math.max(1, tenths(x(to) - x(from)));
			return `<rect class="band ${state}" x="${x(from)}" y="0" width="${width}" height="${HEIGHT}"/>`;
		}),
		...[0, 0.5, 1].map((share) => `<path class="grid" d="M0 ${share * HEIGHT}H${WIDTH}"/>`),
		...resumed.map((at) => `<path class="resumed" d="M${x(at)} 0V${HEIGHT}"/>`),
		...chart.lines.toReversed().map(({ label, values }) => {
			const points = chart.x.map((at, index) => [x(at), heightOf(values[index] ?? null, top)] as const);
			return `<path class="${label}" d="${curve(points)}"/>`;
		}),
	];
	return `<figure class="chart">
<figcaption><h3>Requests a second</h3><ul class="legend">${legend.join("")}</ul></figcaption>
<div class="still"><div class="y" aria-hidden="true">${ys.join("")}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Requests that were sent each second, against the cap.">
${shapes.join("\n")}
</svg>
<div class="x" aria-hidden="true">${xs.join("")}</div></div>
</figure>
`;
}

function key(classes: string, label: string): string {
	return `<li><i class="key ${classes}"></i>${label}</li>`;
}

/** The path through points. One without a height leaves a gap. */
function curve(points: readonly (readonly [x: number, y: number | null])[]): string {
	let path = "";
	let isDown = false;
	for (const [index, [x, y]] of points.entries()) {
		if (y !== null) path += `${isDown ? "L" : "M"}${x} ${y}`;
		// A point between two gaps would be invisible.
		if (y !== null && !isDown && (points[index + 1]?.[1] ?? null) === null) path += "h1";
		isDown = y !== null;
	}
	return path;
}

function heightOf(value: number | null, top: number): number | null {
	return value === null ? null : tenths(HEIGHT * (1 - Math.min(1, value / top)));
}

function tenths(value: number): number {
	return Math.round(value * 10) / 10;
}

/** `0`, `45 s`, `3 min 05 s`. */
function durationShort(seconds: number): string {
	if (seconds === 0) return "0";
	return seconds < 59.5 ? `${Number(seconds.toPrecision(2))} s` : durationText(seconds);
}
