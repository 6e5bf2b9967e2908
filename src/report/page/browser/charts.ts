import uPlot from "uplot";
import type { Chart, ChartLine } from "../chart.ts";

const HEIGHT = 220;

/** Points of a chart below which each is marked. */
const FEW_POINTS = 10;

/** Draws the charts over the still pictures, and again when the theme or the width changes. */
export function drawCharts(charts: readonly Chart[]): void {
	for (const chart of charts) {
		const figure = document.querySelector<HTMLElement>(`#${chart.id}`);
		const live = figure?.querySelector<HTMLElement>(".live");
		if (figure === null || figure === undefined || live === null || live === undefined) continue;
		live.hidden = false;
		figure.classList.add("drawn");
		let plot: uPlot | undefined;
		const draw = (): void => {
			plot?.destroy();
			plot = new uPlot(optionsOf(chart, live), dataOf(chart), live);
		};
		draw();
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
		new ResizeObserver(() => {
			const width = live.clientWidth;
			if (plot !== undefined && width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
		}).observe(live);
	}
}

/** Each bar stands on those before it: the last has the sum of all. */
function dataOf({ x, lines }: Chart): uPlot.AlignedData {
	const sums: number[] = x.map(() => 0);
	const series = lines.map(({ kind, values }) => {
		if (kind !== "bar") return [...values];
		return values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0)));
	});
	return [[...x], ...drawn(lines, series)];
}

/** Bars stand on each other, so those that reach highest are drawn first. */
function drawn<Item>(lines: readonly ChartLine[], items: readonly Item[]): Item[] {
	return lines.some(({ kind }) => kind === "bar") ? items.toReversed() : [...items];
}

function optionsOf(chart: Chart, live: HTMLElement): uPlot.Options {
	const { lines, top, bottom, end } = chart;
	const colour = colours(live);
	const axis: uPlot.Axis = {
		stroke: colour("--muted"),
		grid: { stroke: colour("--line"), width: 1 },
		ticks: { stroke: colour("--line"), width: 1, size: 4 },
		font: "12px system-ui, sans-serif",
	};
	return {
		width: live.clientWidth,
		height: HEIGHT,
		scales: {
			x: { time: false, range: [0, end] },
			y: bottom === undefined ? { range: [0, top] } : { distr: 3, range: [bottom, top] },
		},
		axes: [
			{ ...axis, values: (_, ticks) => ticks.map(clock), incrs: INCREMENTS, space: 70, size: 28 },
			{
				...axis,
				...(bottom === undefined ? {} : { splits: () => powersOfTen(bottom, top) }),
				size: top < 100_000 ? 52 : 68,
				values: (_, ticks) => ticks.map((tick) => tick?.toLocaleString("en-US") ?? ""),
			},
		],
		legend: { live: true, markers: { show: false } },
		cursor: { drag: { x: true, y: false }, points: { size: 6 } },
		series: [
			{ label: "time", value: (_, value: number | null) => (value === null ? "–" : clock(value)) },
			...drawn(lines, lines).map((line) => seriesOf(line, colour)),
		],
		hooks: { drawClear: [(plot) => drawBands(plot, chart, colour)] },
	};
}

function seriesOf({ label, kind, tone, values }: ChartLine, colour: (name: string) => string): uPlot.Series {
	const stroke = colour(`--${tone}`);
	const value = (_: uPlot, __: number | null, ___: number, at: number | null): string => {
		const own = at === null ? null : (values[at] ?? null);
		return own === null ? "–" : own.toLocaleString("en-US", { maximumFractionDigits: 1 });
	};
	const base = { label, value, stroke, spanGaps: false, points: { show: values.length < FEW_POINTS } };
	if (kind !== "bar") return { ...base, width: kind === "line" ? 1.75 : 1.25, dash: kind === "line" ? [] : [6, 4] };
	const paths = uPlot.paths.bars?.({ size: [1, 60], gap: 1 });
	return { ...base, fill: stroke, width: 0, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
}

function drawBands(plot: uPlot, { bands, resumed }: Chart, colour: (name: string) => string): void {
	const { ctx, bbox } = plot;
	ctx.save();
	for (const { state, from, to } of bands) {
		const [left, right] = [plot.valToPos(from, "x", true), plot.valToPos(to, "x", true)];
		const begin = Math.max(bbox.left, left);
		ctx.fillStyle = colour(`--${state}`);
		ctx.fillRect(begin, bbox.top, Math.max(1, Math.min(bbox.left + bbox.width, right) - begin), bbox.height);
	}
	ctx.fillStyle = colour("--muted");
	for (const at of resumed) ctx.fillRect(plot.valToPos(at, "x", true), bbox.top, 1, bbox.height);
	ctx.restore();
}

/** The colours of the page, which the theme decides. */
function colours(element: HTMLElement): (name: string) => string {
	const style = getComputedStyle(element);
	return (name) => style.getPropertyValue(name).trim();
}

function powersOfTen(bottom: number, top: number): number[] {
	const powers: number[] = [];
	for (let power = bottom; power <= top * 1.01; power *= 10) powers.push(Number(power.toPrecision(3)));
	return powers;
}

/** Seconds between two labels. */
const INCREMENTS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];

/** `0:05`, `12:30`, `1:02:30`. */
function clock(seconds: number): string {
	const whole = Math.floor(seconds);
	const rest = seconds - whole >= 0.05 && seconds < 10 ? (seconds - whole).toFixed(1).slice(1) : "";
	const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
	const two = (value: number): string => String(value).padStart(2, "0");
	return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}${rest}`;
}
