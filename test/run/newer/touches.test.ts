import { describe, expect, it } from "vitest";
import { NewerRuns } from "../../../src/run/newer/newer-runs.ts";
import { documentHash, type RunTouches } from "../../../src/run/newer/touches.ts";
import * as fc from "fast-check";

const IDS = Array.from("abcdefgh");
const written = fc.dictionary(fc.constantFrom("1", "2", "3", "4", "5", "6", "7"), fc.subarray(IDS), {
	noNullPrototype: true,
});

describe("the newest run for a document", () => {
	it("is the one with the highest number since the run itself, in whatever order their lists come", () => {
		fc.assert(
			fc.property(written, written, fc.subarray(IDS), (own, other, undone) => {
				const newer = new NewerRuns(1);
				newer.addOther(run("B", other), new Set(undone.map((id) => documentHash("set", id))));
				newer.addOwn(run("A", own));
				const newest = (of: typeof own, id: string): number =>
					Math.max(1, ...Object.keys(of).map((order) => (of[order]?.includes(id) === true ? Number(order) : 0)));
				const isNewer = (id: string): boolean => !undone.includes(id) && newest(other, id) > newest(own, id);
				for (const id of IDS) expect(newer.writer("set", id)?.run).toBe(isNewer(id) ? "B" : undefined);
				const again = IDS.filter((id) => isNewer(id) && Object.values(own).some((ids) => ids.includes(id)));
				expect(newer.writtenAgain().get("B") ?? 0).toBe(again.length);
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
			const list = new Set(documents.map((id) => documentHash("set", id)));
			const none = new Set<number>();
			return { order: Number(order), written: isUnchanged ? none : list, unchanged: isUnchanged ? list : none };
		}),
	};
}

describe("for a run that goes on", () => {
	const toucher = (own: RunTouches, others: readonly RunTouches[], id: string): string | undefined => {
		const newer = new NewerRuns(Math.min(...own.executions.map(({ order }) => order)));
		for (const other of others) newer.addOther(other, new Set());
		newer.addOwn(own);
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
