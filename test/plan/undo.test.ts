import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../src/json/values.ts";
import { metadataHash } from "../../src/plan/plan-file/planned.ts";
import { type Done, undoStep } from "../../src/plan/undo.ts";
import { splitLists } from "../../src/rest/ragflow.ts";

const a = (value: JsonValue): Metadata => new Map([["a", value]]);
const asSent = (metadata: Metadata): Metadata => metadata;
const update: Done = {
	line: 7,
	datasetId: "set",
	documentId: "doc",
	write: "update",
	metadata: a(1),
	before: new Map<string, JsonValue>([
		["a", 0],
		["b", 2],
	]),
};

describe("taking back a row: what it writes over a document must be what was there, and over nothing else", () => {
	it("writes what was there before, where the document still has what the run left", () => {
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

	it("knows what the run left by the rules of the service", () => {
		const step = undoStep({ ...update, metadata: a(["x,y"]) }, splitLists);
		expect(step).toMatchObject({ was: metadataHash(a(["x", "y"])) });
	});

	it("gives back what a service takes apart to the same, as not every release takes it apart", () => {
		const step = undoStep({ ...update, metadata: a(["x", "y"]), before: a(["x;y"]) }, splitLists);
		expect(step).toMatchObject({ was: metadataHash(a(["x", "y"])), metadata: a(["x;y"]) });
	});

	it.each([
		["the document had it already", { metadata: a(1), before: a(1) }, asSent, "nothing"],
		["nobody knows what was there", { before: undefined }, asSent, "impossible"],
		["the document was removed", { write: "remove" as const }, asSent, "impossible"],
		["nobody knows what the upload made", { write: "upload" as const, documentId: "" }, asSent, "impossible"],
	])("%s", (_, more, keeps, expected) => {
		expect(undoStep({ ...update, ...more }, keeps)).toBe(expected);
	});

	it("removes what an upload made, and nothing but that", () => {
		const step = undoStep({ ...update, write: "upload", documentId: "new", before: undefined }, asSent);
		expect(step).toEqual({ action: "remove", line: 7, datasetId: "set", documentId: "new", was: metadataHash(a(1)) });
	});

	it("clears a document that had nothing, rather than leave it as the run left it", () => {
		expect(undoStep({ ...update, before: new Map() }, asSent)).toMatchObject({ metadata: new Map() });
	});
});
