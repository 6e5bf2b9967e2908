import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../src/json/values.ts";
import { metadataHash } from "../../src/plan/plan-file/planned.ts";
import { undoStep } from "../../src/plan/undo.ts";
import { splitLists } from "../../src/rest/ragflow.ts";

type AppliedWrite = Parameters<typeof undoStep>[0];

const a = (value: JsonValue): Metadata => new Map([["a", value]]);
const asSent = (metadata: Metadata): Metadata => metadata;
const update: AppliedWrite = {
	line: 7,
	datasetId: "set",
	documentId: "doc",
	write: "update",
	status: "updated",
	metadata: a(1),
	before: new Map<string, JsonValue>([
		["a", 0],
		["b", 2],
	]),
};

describe("the undo of a row restores the previous value, and overwrites only the run's own value", () => {
	it("writes the previous value if the document still has the run's value", () => {
		expect(undoStep(update, asSent)).toEqual({
			action: "update",
			line: 7,
			datasetId: "set",
			documentId: "doc",
			was: metadataHash(a(1)),
			metadata: update.before,
			difference: { add: new Map([["b", 2]]), change: new Map([["a", { from: 1, to: 0 }]]), remove: new Map() },
		});
	});

	it.each(["failed", undefined] as const)("restores a document that a write of outcome %s has emptied", (status) => {
		const merged = new Map([...(update.before ?? []), ...update.metadata]);
		const orWas = [new Map(), merged].map((metadata) => metadataHash(metadata));
		expect(undoStep({ ...update, status }, asSent)).toMatchObject({ metadata: update.before, orWas });
		expect(undoStep({ ...update, status, metadata: update.before ?? a(1) }, asSent)).toMatchObject({
			action: "update",
		});
	});

	it("knows the run's value by the rules of the service", () => {
		const step = undoStep({ ...update, metadata: a(["x,y"]) }, splitLists);
		expect(step).toMatchObject({ was: metadataHash(a(["x", "y"])) });
	});

	it("restores a list that a service would split into the same items, as not every release splits it", () => {
		const step = undoStep({ ...update, metadata: a(["x", "y"]), before: a(["x;y"]) }, splitLists);
		expect(step).toMatchObject({ was: metadataHash(a(["x", "y"])), metadata: a(["x;y"]) });
	});

	it.each([
		["the document had it already", { metadata: a(1), before: a(1) }, asSent, "nothing"],
		["no record holds what was there", { before: undefined }, asSent, "impossible"],
		["the document was removed", { write: "remove" as const }, asSent, "impossible"],
		["no record holds what the upload made", { write: "upload" as const, documentId: "" }, asSent, "impossible"],
	])("%s", (_, more, keeps, expected) => {
		expect(undoStep({ ...update, ...more }, keeps)).toBe(expected);
	});

	it("removes what an upload created, and nothing else", () => {
		const step = undoStep({ ...update, write: "upload", documentId: "new", before: undefined }, asSent);
		expect(step).toEqual({ action: "remove", line: 7, datasetId: "set", documentId: "new", was: metadataHash(a(1)) });
	});

	it("clears a document that had no metadata before", () => {
		expect(undoStep({ ...update, before: new Map() }, asSent)).toMatchObject({ metadata: new Map() });
	});
});
