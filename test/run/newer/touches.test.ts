import { describe, expect, it } from "vitest";
import { NewerRuns } from "../../../src/run/newer/newer-runs.ts";
import {
	documentHash,
	JoinedTouches,
	sortedOnce,
	touchesOf,
	without,
	type RunTouches,
} from "../../../src/run/newer/touches.ts";
import * as fc from "fast-check";

const hashes = fc.array(fc.integer({ min: 0, max: 60 }));

describe("the newest run for a document", () => {
	it("is the one with the highest number, however the lists are joined", () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(hashes, fc.integer({ min: 1, max: 9 }))), (lists) => {
				const expected = new Map<number, number>();
				for (const [documents, order] of lists) {
					for (const one of documents) expected.set(one, Math.max(order, expected.get(one) ?? 0));
				}
				const joined = new JoinedTouches();
				for (const [documents, order] of lists) joined.add(touchesOf(sortedOnce(Float64Array.from(documents)), order));
				expect([...joined.documents()].toSorted((a, b) => a - b)).toEqual(
					[...expected.keys()].toSorted((a, b) => a - b),
				);
				expect(joined.isEmpty).toBe(expected.size === 0);
				for (let one = 0; one <= 61; one++) expect(joined.newest(one)).toBe(expected.get(one));
			}),
		);
	});

	it("does not count documents whose run was undone", () => {
		fc.assert(
			fc.property(hashes, hashes, (all, others) => {
				const left = without(sortedOnce(Float64Array.from(all)), sortedOnce(Float64Array.from(others)));
				expect([...left]).toEqual([...new Set(all)].filter((one) => !others.includes(one)).toSorted((a, b) => a - b));
			}),
		);
	});

	it("is found by the ids of the document, in any letter case that RAGFlow takes for the same", () => {
		const id = "0123456789abcdef0123456789abcdef";
		expect(documentHash("set", id)).toBe(documentHash("set", id.toUpperCase()));
		expect(documentHash("set", "a")).not.toBe(documentHash("set", "A"));
		expect(documentHash("a", "b")).not.toBe(documentHash("ab", ""));
		const many = Array.from({ length: 100_000 }, (_, n) => documentHash("set", n.toString(16).padStart(32, "0")));
		expect(new Set(many).size).toBe(many.length);
		expect(many.every((one) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
	});
});

/** A run that executed with these numbers, each of which wrote the documents named. */
function run(name: string, executions: Readonly<Record<number, readonly string[]>>, isUnchanged = false): RunTouches {
	return {
		run: name,
		baseUrl: "http://x/api/v1",
		executions: Object.entries(executions).map(([order, documents]) => {
			const list = sortedOnce(Float64Array.from(documents, (id) => documentHash("set", id)));
			const none = new Float64Array(0);
			return {
				order: Number(order),
				written: isUnchanged ? none : list,
				unchanged: isUnchanged ? list : none,
			};
		}),
	};
}

describe("for a run that goes on", () => {
	const toucher = (own: RunTouches, others: readonly RunTouches[], id: string): string | undefined => {
		const newer = new NewerRuns(Math.min(...own.executions.map(({ order }) => order)));
		newer.addOwn(own);
		for (const other of others) newer.addOther(other, new Float64Array(0));
		return newer.toucher("set", id)?.run;
	};

	it.each([
		["a run that wrote before it began", { 5: ["a"] }, [run("B", { 4: ["a", "b"] })], "b", undefined],
		["a run that wrote a document that it had not reached", { 5: ["a"] }, [run("B", { 6: ["b"] })], "b", "B"],
		["an older run that went on later", { 5: ["a"] }, [run("B", { 4: [], 6: ["b"] })], "b", "B"],
		[
			"an older run that went on later, for what it wrote before",
			{ 5: ["a"] },
			[run("B", { 4: ["b"], 6: ["c"] })],
			"b",
			undefined,
		],
		[
			"a run that it has itself overwritten since, by --force",
			{ 5: [], 7: ["a"] },
			[run("B", { 6: ["a"] })],
			"a",
			undefined,
		],
		["a run that overwrote what it forced", { 5: [], 7: ["a"] }, [run("B", { 6: [], 8: ["a"] })], "a", "B"],
		["the newest of several", { 5: [] }, [run("B", { 6: ["a"] }), run("C", { 7: ["a"] })], "a", "C"],
		["a run that found the document unchanged", { 5: [] }, [run("B", { 6: ["a"] }, true)], "a", "B"],
	])("what counts is %s", (_, executions, others, id, by) => {
		expect(toucher(run("A", executions), others, id)).toBe(by);
	});
});
