import { describe, expect, it } from "vitest";
import { type JsonValue, type Metadata, metadataOf } from "../../src/json/values.ts";
import { type Write, type Verdict, verdictOf } from "../../src/plan/verdict.ts";
import { documented } from "../../src/rest/flavours.ts";
import { splitLists } from "../../src/rest/ragflow.ts";

type Members = { readonly [key: string]: JsonValue };

const of = (members: Members | undefined): Metadata | undefined =>
	members === undefined ? undefined : metadataOf(members);

function judged(
	write: Write["write"],
	before: Members | undefined,
	sent: Members,
	present: Members | undefined,
	keeps = documented.normalise,
): Verdict {
	return verdictOf({ write, before: of(before), metadata: metadataOf(sent) }, of(present), keeps);
}

const lost = (...keys: string[]): Verdict => ({ result: "lost", keys });
const changed = (...keys: string[]): Verdict => ({ result: "changed_since", keys });
const equal: Verdict = { result: "equal", keys: [] };
const normalised: Verdict = { result: "normalised", keys: [] };

describe("the outcome of an update: a lost update must not count as a later change of another client", () => {
	it.each<[string, Members | undefined, Members, Members | undefined, Verdict]>([
		["has what was sent", { a: 1 }, { a: 2 }, { a: 2 }, equal],
		["has it with members in another order", {}, { a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, equal],
		["has what it had before", { a: 1 }, { a: 2 }, { a: 1 }, lost("a")],
		["has nothing, as before", {}, { a: 2 }, {}, lost("a")],
		["kept a key that was to go", { a: 1, old: 1 }, { a: 2 }, { a: 2, old: 1 }, lost("old")],
		["has one key of two", { a: 1, b: 1 }, { a: 2, b: 2 }, { a: 2, b: 1 }, lost("b")],
		["has a key as before, and one that another wrote", { a: 1, b: 1 }, { a: 2, b: 2 }, { a: 9, b: 1 }, lost("b")],
		["has what another client wrote later", { a: 1 }, { a: 2 }, { a: 3 }, changed("a")],
		["has a key more", { a: 1 }, { a: 2 }, { a: 2, b: 1 }, changed("b")],
		["has a key less than it ever had", { a: 1 }, { a: 2 }, {}, changed("a")],
		["has null where it had nothing", {}, { a: null }, {}, lost("a")],
		["has null where a key was to go", { a: null }, {}, { a: null }, lost("a")],
		["had already what was sent, and another client changed it", { a: 2 }, { a: 2 }, { a: 3 }, changed("a")],
		["had what no record holds", undefined, { a: 2, b: 2 }, { a: 3, b: 2 }, lost("a")],
		["had what no record holds, and has what was sent", undefined, { a: 2 }, { a: 2 }, equal],
		["is not there", { a: 1 }, { a: 2 }, undefined, lost()],
		["has a key that is named like a method", {}, { toString: 1 }, {}, lost("toString")],
	])("the document %s", (_, before, sent, present, verdict) => {
		expect(judged("update", before, sent, present)).toEqual(verdict);
	});

	it.each<[string, Members, Members, Members, Verdict]>([
		["its list was taken apart", {}, { a: ["x,y"] }, { a: ["x", "y"] }, normalised],
		["its list came as it was sent", {}, { a: ["x,y"] }, { a: ["x,y"] }, equal],
		["its list is as before, by the rules", { a: ["x;y"] }, { a: ["z"] }, { a: ["x", "y"] }, lost("a")],
		["a list was split, and another key is lost", { b: 1 }, { a: ["x,y"], b: 2 }, { a: ["x", "y"], b: 1 }, lost("b")],
		["its text was changed, which no rule does", { a: "old" }, { a: " x " }, { a: "x" }, changed("a")],
	])("by the rules of the service: %s", (_, before, sent, present, verdict) => {
		expect(judged("update", before, sent, present, splitLists)).toEqual(verdict);
	});
});

describe("the outcome of an upload and of a removal", () => {
	it.each<[string, Members, Members | undefined, Verdict]>([
		["has its metadata", { a: 1 }, { a: 1 }, equal],
		["has none of it: a new document had nothing before", { a: 1 }, {}, lost("a")],
		["has what another client wrote later", { a: 1 }, { a: 2 }, changed("a")],
		["has a key that the service adds", { a: 1 }, { a: 1, pages: 3 }, changed("pages")],
		["was to have none, and is there", {}, { a: 1 }, equal],
		["was to have none, and is not there", {}, undefined, lost()],
	])("an uploaded document %s", (_, sent, present, verdict) => {
		expect(judged("upload", undefined, sent, present)).toEqual(verdict);
	});

	it("a removed document is missing, or it is not", () => {
		expect(judged("remove", undefined, {}, undefined)).toEqual(equal);
		expect(judged("remove", undefined, {}, {})).toEqual(lost());
	});
});

it("a number that came rounded is not what was sent, whatever it was rounded to", () => {
	const [sent, before] = [metadataOf({ a: 1e20, b: 1 }), metadataOf({ a: 1e20 })];
	const inexact = new Map([["a", "100000000000000000001"]]);
	const judge = (had: Metadata | undefined): Verdict =>
		verdictOf({ write: "update", before: had, metadata: sent }, sent, documented.normalise, inexact);
	expect(judge(before)).toEqual(changed("a"));
	expect(judge(undefined)).toEqual(lost("a"));
});
