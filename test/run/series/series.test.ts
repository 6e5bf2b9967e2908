import { describe, expect, it } from "vitest";
import { ACTIVITY_STATES } from "../../../src/activity.ts";
import { readSeries, type SeriesPoint } from "../../../src/run/series/series-file.ts";
import { file } from "../../support/service.ts";

const read = async (line: string): Promise<unknown> => (await readSeries(await file("series.jsonl", `${line}\n`)))[0];

const POINT: SeriesPoint = {
	t: 1000,
	s: 1,
	sent: 10,
	done: 10,
	failed: 1,
	p50: 20,
	p95: 40,
	state: "running",
	in_flight: 2,
	cap: 100,
};

describe("a line of a series", () => {
	it.each<[string, SeriesPoint]>([
		["all members", { ...POINT, rate: 31.5 }],
		["no request and no cap", { ...POINT, sent: 0, p50: null, p95: null, cap: null }],
	])("reads back as it was: %s", async (_, point) => {
		expect(await read(JSON.stringify(point))).toEqual(point);
	});

	it.each(ACTIVITY_STATES)("reads back in each state of a run: %s", async (state) => {
		expect(await read(JSON.stringify({ ...POINT, state }))).toMatchObject({ state });
	});

	it.each([
		["cut off", JSON.stringify(POINT).slice(0, 40)],
		["empty", ""],
		["a list", "[1]"],
		["a count as text", JSON.stringify(POINT).replace('"sent":10', '"sent":"10"')],
		["a negative count", JSON.stringify(POINT).replace('"sent":10', '"sent":-10')],
		["a state of another release", JSON.stringify(POINT).replace("running", "dancing")],
	])("is left out where it is %s", async (_, line) => {
		expect(await read(line)).toBeUndefined();
	});
});
