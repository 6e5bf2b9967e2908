import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Metadata } from "../../../src/json/values.ts";
import { readRun } from "../../../src/run/journal/reader.ts";
import { MAX_LINE_BYTES } from "../../../src/run/journal/record-line.ts";
import { createRun } from "../../../src/run/journal/writer.ts";
import type { SentRecord } from "../../../src/run/journal/records.ts";
import { recorderOf } from "../../../src/run/recorded/recorder.ts";
import { work } from "../harness.ts";
import { header } from "../journal/support.ts";
import { folder } from "../../support/service.ts";

/** What a reader finds in the record of an update of a document that had that metadata. */
async function recordOf(before: Metadata | undefined): Promise<SentRecord | undefined> {
	const path = join(await folder(), "run");
	const run = await createRun(path, header());
	onTestFinished(() => run.close());
	const recorder = recorderOf(run, new Map(), () => 1);
	await recorder.sending(work(0), { write: "update", documentId: "doc-0", metadata: new Map(), before });
	return (await (await readRun(path))?.rowsInDoubt())?.get(0)?.sent;
}

it("a before-image is recorded, where it is known", async () => {
	const before = new Map([["a", 1]]);
	expect((await recordOf(before))?.before).toEqual(before);
	expect((await recordOf(undefined))?.before).toBeUndefined();
});

it("a before-image that makes its record too long to be read is left out, as the user asked for the write", async () => {
	const before = new Map([["a", "x".repeat(MAX_LINE_BYTES)]]);
	const sent = await recordOf(before);
	expect([sent?.documentId, sent?.before]).toEqual(["doc-0", undefined]);
});
