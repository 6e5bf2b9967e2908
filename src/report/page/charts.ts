import type { SeriesPoint } from "../../run/series/point.ts";
import { show } from "../../text/show.ts";
import type { Chart, ChartBand, ChartLine } from "./chart.ts";

/** Codes that a chart tells apart by their shade. */
const SHADES = ["bad1", "bad2", "bad3", "bad4"] as const;

/** Characters of a code in a legend. */
const LONGEST_CODE = 40;

/** Seconds between two points from which a later execution made the second. */
const PAUSE_S = 5;

/** A logarithmic axis is used where the slowest request took as many times as long as the fastest. */
const WIDE = 60;

/** Points below which there is nothing to see in a chart. */
const LEAST_POINTS = 3;

type Axis = Pick<Chart, "x" | "end" | "bands" | "resumed">;

/** The charts of a run: its rate, its latency, and its failures where there are any. None for a run of two seconds. */
export function chartsOf(points: readonly SeriesPoint[]): Chart[] {
	if (points.length < LEAST_POINTS) return [];
	const axis = axisOf(points);
	const failures = failureChart(points, axis);
	return [rateChart(points, axis), latencyChart(points, axis), ...(failures === undefined ? [] : [failures])];
}

/** The points one after the other: a night between two executions would leave no room for either. */
function axisOf(points: readonly SeriesPoint[]): Axis {
	const x: number[] = [];
	const bands: ChartBand[] = [];
	const resumed: number[] = [];
	let end = 0;
	let last: SeriesPoint | undefined;
	for (const point of points) {
		const { s, t, state } = point;
		if (last !== undefined && t - s - last.t > PAUSE_S) resumed.push(rounded(end));
		const from = rounded(end);
		end += s;
		last = point;
		x.push(rounded(end - s / 2));
		if (state !== "outage" && state !== "paused" && state !== "waiting" && state !== "slowed") continue;
		const band = bands.at(-1);
		if (band?.state === state && band.to === from) bands[bands.length - 1] = { ...band, to: rounded(end) };
		else bands.push({ state, from, to: rounded(end) });
	}
	return { x, end: Math.max(rounded(end), 1), bands, resumed };
}

function rateChart(points: readonly SeriesPoint[], axis: Axis): Chart {
	const rate = points.map(({ sent, s }) => (s > 0 ? rounded(sent / s) : null));
	const caps = points.map(({ cap }) => cap);
	const lines: ChartLine[] = [{ label: "sent", kind: "line", tone: "accent", values: rate }];
	if (caps.some((cap) => cap !== null)) lines.push({ label: "cap", kind: "dashed", tone: "soft", values: caps });
	return {
		id: "rate",
		title: "Requests a second",
		description: "Requests that were sent each second, against the cap",
		...axis,
		...linear(lines),
		lines,
	};
}

function latencyChart(points: readonly SeriesPoint[], axis: Axis): Chart {
	const lines: ChartLine[] = [
		{ label: "p50", kind: "line", tone: "accent", values: points.map(({ p50 }) => p50) },
		{ label: "p95", kind: "dashed", tone: "soft", values: points.map(({ p95 }) => p95) },
	];
	const all = valuesOf(lines).filter((value) => value > 0);
	const [least, most] = [all.reduce((a, b) => Math.min(a, b), 1e9), all.reduce((a, b) => Math.max(a, b), 0)];
	const scale = most / least < WIDE ? linear(lines) : logarithmic(least, most);
	const title = scale.bottom === undefined ? "Latency in milliseconds" : "Latency in milliseconds, logarithmic";
	const description = "How long requests took: the median, and what 95 of 100 stayed below";
	return { id: "latency", title, description, ...axis, ...scale, lines };
}

function failureChart(points: readonly SeriesPoint[], axis: Axis): Chart | undefined {
	const sums = new Map<string, number>();
	for (const { errors = {} } of points) {
		for (const [code, count] of Object.entries(errors)) sums.set(code, (sums.get(code) ?? 0) + count);
	}
	if (sums.size === 0) return undefined;
	const codes = [...sums].toSorted(([, one], [, other]) => other - one).map(([code]) => code);
	const named = codes.slice(0, SHADES.length);
	const rest = codes.slice(SHADES.length);
	const valuesFor = (some: readonly string[]): number[] =>
		points.map(({ errors = {} }) => some.reduce((sum, code) => sum + (errors[code] ?? 0), 0));
	const lines = named.map((code, at): ChartLine => {
		return { label: show(code, LONGEST_CODE), kind: "bar", tone: SHADES[at] ?? "bad1", values: valuesFor([code]) };
	});
	if (rest.length > 0) {
		lines.push({ label: `${rest.length} other codes`, kind: "bar", tone: "bad5", values: valuesFor(rest) });
	}
	const top = points.map((_, at) => lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
	return {
		id: "failures",
		title: `Failed rows${intervalText(points)}`,
		description: "Rows that failed, by the code of their error, stacked",
		...axis,
		...linear([{ label: "", kind: "bar", tone: "bad1", values: top }]),
		lines,
	};
}

/** ` in each 4 seconds`, or nothing where the points differ. */
function intervalText(points: readonly SeriesPoint[]): string {
	const middle = points.map(({ s }) => Math.round(s)).toSorted((a, b) => a - b)[Math.floor(points.length / 2)] ?? 1;
	return middle <= 1 ? " a second" : ` in each ${middle} seconds`;
}

function valuesOf(lines: readonly ChartLine[]): number[] {
	return lines.flatMap(({ values }) => values.filter((value) => value !== null));
}

type Scale = Pick<Chart, "top" | "bottom">;

/** An end of the axis whose half is a round number too. */
function linear(lines: readonly ChartLine[]): Scale {
	const most = valuesOf(lines).reduce((a, b) => Math.max(a, b), 0);
	if (most <= 2) return { top: 2, bottom: undefined };
	const power = 10 ** Math.floor(Math.log10(most));
	const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= most * 1.05) ?? 20;
	return { top: rounded(step * power), bottom: undefined };
}

/** Powers of ten, an even number of them, so that the middle of the axis is one too. */
function logarithmic(least: number, most: number): Scale {
	const low = Math.floor(Math.log10(least));
	const high = Math.max(low + 2, Math.ceil(Math.log10(most)));
	const even = (high - low) % 2 === 0 ? high : high + 1;
	return { top: 10 ** even, bottom: 10 ** low };
}

function rounded(value: number): number {
	return Math.round(value * 1000) / 1000;
}
