import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Metadata, metadataText } from "../../../src/json/values.ts";
import { readRun } from "../../../src/run/journal/reader.ts";
import { createRun } from "../../../src/run/journal/open.ts";
import type { SentRecord } from "../../../src/run/journal/records.ts";
import { Recorder } from "../../../src/run/recorded/recorder.ts";
import { work } from "../harness.ts";
import { folder, header } from "../journal/support.ts";

/** What a reader finds in the record of an update of a document that had that metadata. */
async function recordOf(before: Metadata | undefined, beforeText?: string): Promise<SentRecord | undefined> {
	const path = join(await folder(), "run");
	const run = await createRun(path, header());
	onTestFinished(() => run.journal.close());
	const recorder = new Recorder(run, new Map(), () => 1);
	await recorder.sending(work(0), { what: "update", documentId: "doc-0", metadata: new Map(), before, beforeText });
	return (await (await readRun(path))?.rowsInDoubt())?.get(0)?.sent;
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
