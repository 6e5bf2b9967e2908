import { describe, expect, it } from "vitest";
import { processorTime } from "../support/cpu.ts";
import { Claims, type Match, resolveName, Names } from "../../src/plan/names.ts";

type Claim = Parameters<Claims["take"]>[1];

function namesOf(...all: string[]): Names {
	const names = new Names();
	for (const [index, name] of all.entries()) names.add({ id: `id${index}`, name });
	return names;
}

const held = namesOf("a.txt", "a(1).txt", "Ä.txt", "report[1].pdf", "twice", "x", "twice", "__proto__", "");

describe("a name finds the document of that name, and never a similar one", () => {
	it.each<[string, Match, object]>([
		["a.txt", "exact", { kind: "found", documents: [{ id: "id0" }] }],
		["a(1).txt", "exact", { kind: "found", documents: [{ id: "id1" }] }],
		["__proto__", "exact", { kind: "found", documents: [{ id: "id7" }] }],
		["constructor", "exact", { kind: "unknown", candidates: [] }],
		["A.txt", "exact", { kind: "unknown", candidates: [{ name: "a.txt" }, { name: "a(1).txt" }] }],
		[" a.txt", "exact", { kind: "unknown", candidates: [{ name: "a.txt" }, { name: "a(1).txt" }] }],
		["A\u0308.txt", "exact", { kind: "unknown", candidates: [{ name: "Ä.txt" }] }],
		["twice", "exact", { kind: "ambiguous", documents: [{ id: "id4" }, { id: "id6" }] }],
		["twice", "glob", { kind: "found", documents: [{ id: "id4" }, { id: "id6" }] }],
		["*.txt", "exact", { kind: "unknown", candidates: [] }],
		["*.txt", "glob", { kind: "found", documents: [{ id: "id0" }, { id: "id1" }, { id: "id2" }] }],
		["*.doc", "glob", { kind: "unmatched", isName: false }],
		["report[1].pdf", "exact", { kind: "found", documents: [{ id: "id3" }] }],
		["report[1].pdf", "glob", { kind: "unmatched", isName: true }],
		["report[[]1].pdf", "glob", { kind: "found", documents: [{ id: "id3" }] }],
		["twic?", "glob", { kind: "found", documents: [{ id: "id4" }, { id: "id6" }] }],
	])("%j, %s", (name, match, expected) => {
		expect(resolveName(held, name, match)).toMatchObject(expected);
	});
});

it.each([
	["A.txt", "a.txt"],
	["a .txt", "a.txt"],
	["a\u00a0b", "a b"],
	["é", "e\u0301"],
	["a.txt", "a(1).txt"],
	["A.txt", "a(12).txt"],
	["a(1)", "a(2)"],
])("%j is a likely mistake for %j", (wanted, found) => {
	expect(namesOf(found).like(wanted)).toEqual([{ id: "id0", name: found }]);
});

it("two documents with names that appear equal are each found by their own name", () => {
	const names = namesOf("é", "e\u0301");
	expect(resolveName(names, "é", "exact")).toMatchObject({ kind: "found", documents: [{ id: "id0" }] });
	expect(resolveName(names, "e\u0301", "exact")).toMatchObject({ kind: "found", documents: [{ id: "id1" }] });
});

it("a hundred thousand documents of one name take no longer than others", async () => {
	const taken = await processorTime(() => {
		const names = new Names();
		for (let index = 0; index < 100_000; index++) names.add({ id: `${index}`, name: "same" });
		expect(names.called("same")).toHaveLength(100_000);
		expect(names.withId("99999")).toEqual({ id: "99999", name: "same" });
	});
	expect(taken).toBeLessThan(2000);
});

describe("a document that two rows name gets the values of the row that --on-duplicate chooses", () => {
	const claim = (row: number, payload: string): Claim => ({ row, place: `on line ${row}`, payload });
	const [one, other] = [
		{ id: "1", name: "a" },
		{ id: "2", name: "b" },
	];
	const owners = (claims: Claims): number[] => [1, 2, 3].flatMap((row) => (claims.isOwner(one, row) ? [row] : []));

	it("error: the later row gets no document", () => {
		const claims = new Claims();
		expect(claims.take([one], claim(1, "x"), "error")).toBeUndefined();
		expect(claims.take([one], claim(2, "x"), "error")).toBeUndefined();
		expect(claims.take([other, one], claim(3, "y"), "error")).toMatchObject({ place: "on line 1" });
		expect([owners(claims), claims.isOwner(other, 3)]).toEqual([[1], false]);
	});

	it("first and last", () => {
		for (const [policy, owner] of [
			["first", 1],
			["last", 3],
		] as const) {
			const claims = new Claims();
			for (const row of [1, 2, 3]) expect(claims.take([one], claim(row, `${row}`), policy)).toBeUndefined();
			expect(owners(claims)).toEqual([owner]);
		}
	});
});
