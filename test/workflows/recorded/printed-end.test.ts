import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPrintedEnd } from "../../../src/workflows/recorded/printed-end.ts";
import { folder } from "../../support/service.ts";

const END = {
	seconds: 2,
	exit: 0,
	stop: undefined,
	slow: [],
	verify: undefined,
	isVerified: false,
	isCapShared: false,
	undo: undefined,
};
const COUNTS = { rows: 3, checked: 3, equal: 2, normalised: 0, lost: 1, changed_since: 0, unknown: 0, pending: 0 };

async function endIn(text: string): Promise<unknown> {
	const run = await folder();
	await writeFile(join(run, "summary.json"), text);
	return readPrintedEnd(run);
}

it.each<[string, object, object]>([
	["a run that came to its end", { stop: null, slow: [] }, {}],
	["why a run stopped", { stop: { code: 9, text: "10 rows failed" } }, { stop: { code: 9, text: "10 rows failed" } }],
	["a stop without words", { stop: { code: "limit" } }, {}],
	[
		"what made a run slower, and no member of another form",
		{ slow: [{ cause: "429", seconds: 4 }, { cause: 429, seconds: 4 }, { cause: "outage" }, "429"] },
		{ slow: [{ cause: "429", seconds: 4 }] },
	],
	["causes that are no list", { slow: "429" }, {}],
	["what a verification found", { verify: { mode: "all", ...COUNTS } }, { verify: { mode: "all", ...COUNTS } }],
	[
		"a verification of 0.1.0, whose counts may be missing",
		{ verify: { mode: "sample", rows: 3, equal: "2" } },
		{
			verify: {
				mode: "sample",
				...Object.fromEntries(Object.keys(COUNTS).map((name) => [name, name === "rows" ? 3 : 0])),
			},
		},
	],
	["a verification of an unknown kind", { verify: { mode: "some", ...COUNTS } }, {}],
	["the command that undoes it", { undo: "ragtag runs undo R" }, { undo: "ragtag runs undo R" }],
	["an undo that is not offered", { undo: null }, {}],
	["that updates were seen to arrive", { verified: true }, { isVerified: true }],
	["no such thing from another value", { verified: "true" }, {}],
	["that other runs shared its cap", { limiter: { shared: true, away_seconds: 0 } }, { isCapShared: true }],
	["a cap of its own", { limiter: null }, {}],
])("a report made later has %s", async (_what, members, expected) => {
	expect(await endIn(JSON.stringify({ seconds: 2, exit_code: 0, ...members }))).toEqual({ ...END, ...expected });
});

it.each(["", "{", "[]", "null", '{"seconds":2}', '{"seconds":"2","exit_code":0}'])(
	"a report does not make up the end of a run from a damaged summary: %j",
	async (text) => {
		expect(await endIn(text)).toBeUndefined();
	},
);

it("a report of a killed run has no end, and a summary that can't be read is a fault", async () => {
	const run = await folder();
	expect(await readPrintedEnd(run)).toBeUndefined();
	await mkdir(join(run, "summary.json"));
	await expect(readPrintedEnd(run)).rejects.toThrow("EISDIR");
});
