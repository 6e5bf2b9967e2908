import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Metadata, metadataText } from "../../../src/json/values.ts";
import { inDoubtByRow } from "../../../src/run/journal/in-doubt.ts";
import { JOURNAL_FILE, readJournal, readRun } from "../../../src/run/journal/reader.ts";
import { createRun } from "../../../src/run/journal/open.ts";
import type { SentRecord } from "../../../src/run/journal/records.ts";
import { Recorder } from "../../../src/run/recorded/recorder.ts";
import type { Work } from "../../../src/run/types.ts";
import { work } from "../harness.ts";
import { folder, header } from "../journal/support.ts";

/** What a reader finds in the record of an update of a document that had that metadata. */
async function recordOf(before: Metadata | undefined, beforeText?: string): Promise<SentRecord | undefined> {
	const path = join(await folder(), "run");
	const run = await createRun(path, header());
	onTestFinished(() => run.close());
	const recorder = new Recorder(run, new Map(), () => 1);
	await recorder.sending(work(0), { what: "update", documentId: "doc-0", metadata: new Map(), before, beforeText });
	const read = await readRun(path);
	return (await inDoubtByRow(read?.recordsInDoubt() ?? (async function* () {})())).get(0)?.sent;
}

const MEBIBYTE = 1024 * 1024;

it("a before-image is recorded in its text, where that is at hand", async () => {
	const before = new Map([["a", 1]]);
	expect((await recordOf(before))?.before).toEqual(before);
	expect((await recordOf(before, '{"a":2}'))?.before).toEqual(new Map([["a", 2]]));
	expect((await recordOf(undefined))?.before).toBeUndefined();
});

it.each([
	["ASCII", "x", 4 * MEBIBYTE],
	["three bytes a character", "永", (4 * MEBIBYTE) / 3],
])("a before-image of more than 4 MiB is left out, as its record could not be read back: %s", async (_, one, most) => {
	const text = (length: number): Metadata => new Map([["a", one.repeat(length)]]);
	const fits = text(Math.floor(most) - '{"a":""}'.length);
	expect((await recordOf(fits))?.before).toEqual(fits);
	const larger = text(Math.floor(most));
	expect((await recordOf(larger))?.before).toBeUndefined();
	expect((await recordOf(larger, metadataText(larger)))?.before).toBeUndefined();
});

it("says at every moment which bytes of the journal its counts are of, or a list of a killed run would be wrong", async () => {
	const path = join(await folder(), "run-1");
	const opened = await createRun(path, header());
	const file = join(path, JOURNAL_FILE);
	const checked: number[] = [];
	const check = async (): Promise<void> => {
		const { countedBytes } = recorder;
		const totals = recorder.totals();
		const { state, goodLength } = await readJournal([(await readFile(file)).subarray(0, countedBytes)], file);
		expect([state.totals(), goodLength]).toEqual([totals, countedBytes]);
		checked.push(countedBytes);
	};
	const recorder: Recorder<Work> = new Recorder(opened, new Map(), Date.now, check);
	await check();
	const settled: Promise<void>[] = [];
	for (let index = 0; index < 60; index++) {
		const status = index % 5 === 0 ? "failed" : "updated";
		settled.push(recorder.record({ item: work(index), status, attempts: 1, documentId: `${index}` }).settled);
		// Some of them go into one group, and are written while others become durable.
		if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
		if (index % 20 === 0) await settled.at(-1);
	}
	await Promise.all(settled);
	await check();
	await recorder.reopen(new Date(), false);
	await check();
	await recorder.end(1, new Date());
	await check();
	await recorder.close();
	expect(new Set(checked).size).toBeGreaterThan(5);
	expect(checked.at(-1)).toBe((await readFile(file)).length);
});
