import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { noOutcomes } from "../../../src/outcomes.ts";
import { readSummary } from "../../../src/run/recorded/run-summary.ts";
import { folder } from "../../support/service.ts";

const COUNTS = { ...noOutcomes(), rows: 3, updated: 3, invalid: 0, pending: 0, attempts: 3 };
const TIME = "2026-11-21T17:00:00.000Z";
const WRITTEN = { ...COUNTS, duplicate_skipped: 0, superseded: 0, seconds: 2, exit_code: 0, ended: TIME, wrote: true };
const UNKNOWN = { stop: undefined, slow: [], verify: undefined, isVerified: false };
const COUNTED = { totals: { ...COUNTS, duplicateSkipped: 0 }, superseded: 0, seconds: 2, exitCode: 0 };
const READ = { ...COUNTED, ...UNKNOWN, ended: TIME, wrote: true, foundRate: undefined, undo: undefined };
const VERIFY = { rows: 3, checked: 3, equal: 2, normalised: 0, lost: 1, changed_since: 0, unknown: 0, pending: 0 };

async function summaryOf(text: string): Promise<unknown> {
	const run = await folder();
	await writeFile(join(run, "summary.json"), text);
	return readSummary(run);
}

it.each<[string, object, object]>([
	["a run that came to its end", { stop: null, slow: [], undo: null, limiter: null }, {}],
	["why a run stopped", { stop: { code: 9, text: "10 rows failed" } }, { stop: { code: 9, text: "10 rows failed" } }],
	["a stop without words", { stop: { code: "limit" } }, {}],
	["what made a run slower", { slow: [{ cause: "429", seconds: 4 }] }, { slow: [{ cause: "429", seconds: 4 }] }],
	[
		"no cause of a list with another form",
		{
			slow: [
				{ cause: "429", seconds: 4 },
				{ cause: 429, seconds: 4 },
			],
		},
		{},
	],
	["causes that are no list", { slow: "429" }, {}],
	["what a verification found", { verify: { mode: "all", ...VERIFY } }, { verify: { mode: "all", ...VERIFY } }],
	["a verification of an unknown kind", { verify: { mode: "some", ...VERIFY } }, {}],
	["a verification without its counts", { verify: { mode: "all", rows: 3 } }, {}],
	["the command that undoes it", { undo: "ragtag runs undo R" }, { undo: "ragtag runs undo R" }],
	["that updates were seen to arrive", { verified: true }, { isVerified: true }],
	["no such thing from another value", { verified: "true" }, {}],
])("a report made later has %s", async (_what, members, expected) => {
	expect(await summaryOf(JSON.stringify({ ...WRITTEN, ...members }))).toEqual({ ...READ, ...expected });
});

it.each(["", "{", "[]", "null", ...Object.keys(WRITTEN).map((name) => JSON.stringify({ ...WRITTEN, [name]: null }))])(
	"the end of a run is not made up from a damaged summary: %j",
	async (text) => {
		expect(await summaryOf(text)).toBeUndefined();
	},
);

it("a killed run, which has no summary, has no end", async () => {
	expect(readSummary(await folder())).toBeUndefined();
});
