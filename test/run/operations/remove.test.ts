import { describe, expect, it } from "vitest";
import type { RestErrorKind } from "../../../src/rest/errors.ts";
import type { Api, Document, DocumentQuery } from "../../../src/rest/types.ts";
import { type Memory, mayHaveArrived } from "../../../src/run/operations/operation.ts";
import type { Service } from "../../../src/run/service/service.ts";
import type { Work } from "../../../src/run/types.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { FakeClock } from "../fake-clock.ts";
import { provenService, removing } from "../fake-service.ts";
import { failure, start, work } from "../harness.ts";

/** What becomes of a removal: of the one document, of all of its dataset, or of none. */
type Take = "one" | "all" | "none";

type Shelf = {
	readonly held: Map<string, Document[]>;
	readonly removals: string[];
	/** `ID` of each look at one document, and `page N` of each page of a list */
	readonly lists: string[];
	take: Take;
	/** whether the answer is lost after that */
	isLost: boolean;
	/** what a removal is answered with instead of success */
	answer: RestErrorKind | undefined;
	/** its code */
	code: string | undefined;
	/** looks at one document that fail before one succeeds */
	failingLooks: number;
	/** looks after a removal that an empty list answers, whatever is there */
	emptyLooks: number;
	/** documents that lists show although they are removed, until that time of the clock, which begins at 0 */
	readonly late: Map<string, number>;
	readonly clock: FakeClock;
	readonly service: Service;
	remove(dataset: string, id: string, memory?: Memory): Promise<unknown>;
};

type Conduct = Partial<Pick<Shelf, "take" | "isLost" | "answer" | "code" | "failingLooks" | "emptyLooks" | "late">>;

/** Datasets by the ids of their documents, and how their service behaves. */
function shelf(datasets: Readonly<Record<string, readonly string[]>>, conduct: Conduct = {}): Shelf {
	const clock = new FakeClock();
	const held = new Map(
		Object.entries(datasets).map(([datasetId, ids]) => [
			datasetId,
			ids.map((id) => ({ ...documentOf(id), datasetId })),
		]),
	);
	const gone = new Map<string, Document>();
	const api: Api = fakeApi([], {
		listDocuments: async (dataset: string, { page, id, pageSize = 30 }: DocumentQuery) => {
			if (state.removals.length > 0 && state.failingLooks > 0) {
				state.failingLooks -= 1;
				throw failure("ambiguous", { status: 502 });
			}
			if (state.removals.length > 0 && state.emptyLooks > 0) {
				state.emptyLooks -= 1;
				return { items: [], total: 0 };
			}
			const shown = [...gone.values()].filter(
				(each) => each.datasetId === dataset && clock.now() < (state.late.get(each.id) ?? 0),
			);
			const all = [...(held.get(dataset) ?? []), ...shown].filter((each) => id === undefined || each.id === id);
			state.lists.push(id ?? `page ${page}`);
			return { items: all.slice((page - 1) * pageSize, page * pageSize), total: all.length };
		},
		removeDocument: async (document) => {
			const { datasetId, id } = document;
			state.removals.push(`${datasetId} ${id}`);
			const before = held.get(datasetId) ?? [];
			if (state.take === "one" && before.every((each) => each.id !== id)) throw failure("rejected", { status: 404 });
			const taken = before.filter((each) => state.take === "all" || (state.take === "one" && each.id === id));
			for (const each of taken) gone.set(each.id, each);
			held.set(
				datasetId,
				before.filter((each) => !taken.includes(each)),
			);
			if (state.isLost) throw failure("ambiguous", { status: 502 });
			if (state.answer !== undefined) throw failure(state.answer, state.code === undefined ? {} : { code: state.code });
		},
	});
	const service = provenService(api, { clock });
	const operation = removing(service);
	const state: Shelf = {
		held,
		removals: [],
		lists: [],
		take: "one",
		isLost: false,
		answer: undefined,
		code: undefined,
		failingLooks: 0,
		emptyLooks: 0,
		late: new Map(),
		clock,
		service,
		remove: (datasetId, documentId, memory = {}) =>
			clock.until(operation({ ...work(0), datasetId, documentId }, direct, memory)),
		...conduct,
	};
	return state;
}

const ids = ({ held }: Shelf, dataset: string): string[] => (held.get(dataset) ?? []).map(({ id }) => id);
const emptied = { kind: "not_the_api", code: "REMOVED_MORE" };
const removed = { status: "removed", documentId: "a" };

describe("a removal that empties the dataset, as one without its body does, ends the run at once", () => {
	it("in a second dataset too, although the first one was checked", async () => {
		const state = shelf({ one: ["a", "b", "c"], two: ["d", "e", "f"] });
		await state.remove("one", "a");
		state.take = "all";
		await expect(state.remove("two", "d")).rejects.toMatchObject(emptied);
	});

	it("after a dataset of one document, which has no other to check", async () => {
		const state = shelf({ single: ["a"], two: ["d", "e", "f"] });
		expect(await state.remove("single", "a")).toEqual({ status: "removed", documentId: "a" });
		expect(state.service.canary.removalsConfirmed.has("single")).toBe(false);
		state.take = "all";
		await expect(state.remove("two", "d")).rejects.toMatchObject(emptied);
	});

	it("in a run of parallel rows: exit 6, one dataset is lost, and nothing is sent to the next", async () => {
		const names = range(20).map((n) => `doc-${n}`);
		const state = shelf({ single: ["a"], two: names, three: ["x", "y", "z"] });
		const items = [["single", "a"], ...names.map((name) => ["two", name]), ["three", "x"], ["three", "y"]].map(
			([datasetId = "", documentId = ""], index) => ({ ...work(index), datasetId, documentId }),
		);
		const operation = removing(state.service);
		const run = start(
			async (item, request, memory) => {
				if (item.datasetId !== "single") state.take = "all";
				return operation(item, request, memory);
			},
			{ rows: items.length, clock: state.clock, chunks: chunksOf(items) },
		);
		const stop = await state.clock.until(run.done);
		expect(stop).toMatchObject({ exit: 6, text: expect.stringContaining("is gone too") });
		const { removed, failed, pending } = run.journal.totals();
		// Rows that looked after the dataset was emptied did not find theirs.
		expect([removed, failed + pending]).toEqual([1, 22]);
		expect(state.removals).toEqual(["single a", "two doc-0"]);
		expect(ids(state, "three")).toEqual(["x", "y", "z"]);
	});
});

describe("the removals of many rows are confirmed by one list", () => {
	const count = 240;
	const names = range(count).map((n) => `doc-${n}`);

	/** A run that removes `documents` from a dataset that was listed with these documents and more. */
	function removingListed(state: Shelf, documents: readonly string[]) {
		const operation = removing(state.service);
		const items = documents.map((documentId, index) => ({ ...work(index), datasetId: "set", documentId }));
		return start(operation, { rows: items.length, clock: state.clock, chunks: chunksOf(items) });
	}

	it("in far fewer requests than one for each", async () => {
		const state = shelf({ set: [...names, "kept-1", "kept-2"] });
		const run = removingListed(state, names);
		await state.clock.until(run.done);
		expect(run.journal.totals()).toMatchObject({ removed: count, failed: 0, pending: 0, attempts: count });
		expect(ids(state, "set")).toEqual(["kept-1", "kept-2"]);
		expect(state.removals).toHaveLength(count);
		// The list of three pages, then the first is sent between looks, then one page shows what is left.
		expect(state.lists).toHaveLength(1 + 3 + 3 + 1);
	});

	it("and a document that the list still shows does not count, whatever the service answered", async () => {
		const state = shelf({ set: names });
		const run = removingListed(state, names);
		const { removals } = state;
		// From the hundredth on the service says yes, and keeps the document.
		const push = removals.push.bind(removals);
		removals.push = (...texts) => {
			if (removals.length >= 100) state.take = "none";
			return push(...texts);
		};
		await state.clock.until(run.done);
		const { removed } = run.journal.totals();
		expect(removed).toBe(count - ids(state, "set").length);
		expect(removed).toBe(100);
	});

	it("and a list that shows less than must be left confirms none of them", async () => {
		const state = shelf({ set: [...names, "kept"] });
		const run = removingListed(state, names);
		const { removals } = state;
		const push = removals.push.bind(removals);
		// The service keeps everything from the second row on, and its list is empty when it is read.
		removals.push = (...texts) => {
			if (removals.length > 0) state.take = "none";
			if (removals.length === count - 1) state.emptyLooks = 1;
			return push(...texts);
		};
		await state.clock.until(run.done);
		expect(ids(state, "set")).toHaveLength(count);
		expect(run.journal.totals().removed).toBe(1);
	});
});

async function* chunksOf(items: readonly Work[]): AsyncGenerator<readonly Work[]> {
	yield items;
}

describe("a document that an attempt removed is never reported as absent from the start", () => {
	it("if two neighbours lost their answers: what this run removed itself is no harm", async () => {
		const state = shelf({ set: ["a", "b", "c", "d"] }, { isLost: true });
		const [one, two]: [Memory, Memory] = [{}, {}];
		await expect(state.remove("set", "a", one)).rejects.toMatchObject({ kind: "ambiguous" });
		await expect(state.remove("set", "b", two)).rejects.toMatchObject({ kind: "ambiguous" });
		state.isLost = false;
		expect(await state.remove("set", "a", one)).toEqual(removed);
		expect(await state.remove("set", "b", two)).toEqual({ status: "removed", documentId: "b" });
		expect([ids(state, "set"), state.removals]).toEqual([
			["c", "d"],
			["set a", "set b"],
		]);
	});

	it("and if the second one emptied the dataset, another document shows it", async () => {
		const state = shelf({ set: ["a", "b", "c", "d"] }, { take: "none", isLost: true });
		const [one, two]: [Memory, Memory] = [{}, {}];
		await expect(state.remove("set", "a", one)).rejects.toMatchObject({ kind: "ambiguous" });
		state.take = "all";
		await expect(state.remove("set", "b", two)).rejects.toMatchObject({ kind: "ambiguous" });
		state.isLost = false;
		await state.remove("set", "a", one);
		await expect(state.remove("set", "b", two)).rejects.toMatchObject(emptied);
	});

	it.each([
		["rejected", "CODE_500"],
		["contradiction", "CODE_100"],
	] as const)(
		"if the service refused it, as %s, after the removal, because its file could not be deleted",
		async (kind, code) => {
			const state = shelf({ set: ["a", "b", "c"] }, { answer: kind, code });
			const memory: Memory = {};
			expect(await state.remove("set", "a", memory)).toEqual(removed);
			expect([mayHaveArrived(memory), state.removals]).toEqual([true, ["set a"]]);
			state.take = "none";
			await expect(state.remove("set", "b")).rejects.toThrow(`it was ${kind}`);
			expect(ids(state, "set")).toEqual(["b", "c"]);
		},
	);
});

describe("after a first attempt that failed, the second", () => {
	const lostAnswer = { isLost: true } as const;
	const LAGGING: Conduct = { ...lostAnswer, late: new Map([["a", 1_000]]) };
	const EMPTY_ONCE: Conduct = { take: "one", isLost: false, emptyLooks: 1 };
	const EMPTYING: Conduct = { take: "all", isLost: false };
	const NOT_FOUND = { kind: "rejected", code: "NOT_FOUND" };

	it.each<[string, Conduct, Conduct, object, number]>([
		["counts once its neighbour is seen, where the answer was lost", lostAnswer, {}, removed, 1],
		["counts, where the check of the first failed", { failingLooks: 1 }, {}, removed, 1],
		["counts, where a page came and the request had been passed on", { answer: "not_the_api" }, {}, removed, 1],
		["counts, where the first was throttled after it was applied", { answer: "throttled" }, {}, removed, 1],
		["counts, where the key was refused after it was applied", { answer: "untrusted" }, {}, removed, 1],
		["is of a document that is not there, where the first was not sent", { answer: "not_sent" }, {}, NOT_FOUND, 1],
		["is refused and counts, where a lagging list showed the document", LAGGING, {}, removed, 2],
		["removes it, where the list was empty once", { ...lostAnswer, take: "none" }, EMPTY_ONCE, removed, 2],
		["ends the run, where the first emptied the dataset", { ...lostAnswer, take: "all" }, {}, emptied, 1],
		["ends the run, where it empties the dataset", { ...lostAnswer, take: "none" }, EMPTYING, emptied, 2],
	])("%s", async (_, first, second, end, sent) => {
		const state = shelf({ set: ["a", "b", "c"] }, first);
		const memory: Memory = {};
		await expect(state.remove("set", "a", memory)).rejects.toMatchObject({ kind: first.answer ?? "ambiguous" });
		expect(mayHaveArrived(memory)).toBe(first.answer !== "not_sent");
		Object.assign(state, second);
		const again = state.remove("set", "a", memory);
		if (end === removed) expect(await again).toEqual(end);
		else await expect(again).rejects.toMatchObject(end);
		expect(state.removals).toEqual(range(sent).map(() => "set a"));
		expect(ids(state, "set")).toEqual(end === emptied ? [] : ["b", "c"]);
	});
});

it("a list that is empty once after a refusal is no proof that the document was removed: its row fails", async () => {
	const state = shelf({ set: ["a", "b", "c"] }, { take: "none", answer: "rejected", code: "CODE_500", emptyLooks: 1 });
	await expect(state.remove("set", "a")).rejects.toMatchObject({ code: "CODE_500" });
});

describe("a removal that the service reports as successful", () => {
	it.each([1, 2, 30])("does not count as row %i of the run if the document stays", async (place) => {
		const names = range(40).map((n) => `doc-${n}`);
		const state = shelf({ set: names });
		for (const name of names.slice(0, place - 1)) await state.remove("set", name);
		state.take = "none";
		// Once a removal was confirmed, it may concern this row alone.
		const error = { kind: place === 1 ? "not_the_api" : "rejected", code: "NOT_REMOVED" };
		await expect(state.remove("set", `doc-${place - 1}`)).rejects.toMatchObject(error);
		expect(ids(state, "set")).toContain(`doc-${place - 1}`);
	});

	it.each([1, 2])("counts as row %i of the run if a lagging index shows it late", async (place) => {
		const state = shelf({ set: ["doc-0", "doc-1", "doc-2"] });
		for (const name of ["doc-0", "doc-1"].slice(0, place - 1)) await state.remove("set", name);
		const id = `doc-${place - 1}`;
		state.late.set(id, state.clock.now() + 5_000);
		expect(await state.remove("set", id)).toEqual({ status: "removed", documentId: id });
		expect(state.removals).toHaveLength(place);
	});
});
