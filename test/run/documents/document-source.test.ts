import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Api, Document } from "../../../src/rest/types.ts";
import { DocumentSource } from "../../../src/run/documents/document-source.ts";
import { StoredDocuments } from "../../../src/run/documents/stored-documents.ts";
import { documented, type Flavour } from "../../../src/rest/flavours.ts";
import type { Clock } from "../../../src/run/types.ts";
import { ragflowPut } from "../../support/flavours.ts";
import { folder } from "../../support/service.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { believing } from "../fake-service.ts";
import { FakeClock } from "../fake-clock.ts";
import { failure } from "../harness.ts";

describe("a dataset is listed only where that costs fewer requests than one for each row", () => {
	it.each<[number, number | undefined, number | undefined, number, boolean]>([
		[1_000, 1_000, 100, 100, true],
		[10, 1_000, 100, 100, false],
		[11, 1_000, 100, 100, true],
		[11, 1_001, 100, 100, false],
		[2, 1, 100, 1, true],
		[1, 1, 100, 1, false],
		// Pages are cut to ten: a hundred of them are left.
		[50, 1_000, 100, 10, false],
		[101, 1_000, 100, 10, true],
		[101, 1_000, undefined, 10, true],
		// Nothing is known of its length, or it lies.
		[1_000_000, undefined, 100, 100, false],
		[1_000_000, 0, 100, 0, false],
		[1_000, 5, 100, 100, true],
	])("%d rows, %s documents, %s asked for, %d came: %s", async (rows, total, asked, came, listed) => {
		expect(await isListed(rows, { total, asked, came, flavour: documented })).toBe(listed);
	});

	it.each<[number, number, number, boolean]>([
		[9, 1_000, 100, false],
		[10, 1_000, 100, true],
		[10, 1_001, 100, false],
		[2, 1, 1, true],
		[1, 100, 100, false],
	])("whose totals count all of it, %d rows, %d documents, %d came: %s", async (rows, total, came, listed) => {
		expect(await isListed(rows, { total, asked: 100, came, flavour: ragflowPut })).toBe(listed);
	});

	/** Whether the dataset is listed for rows of a service that counts so many documents, and gives so many in a page. */
	async function isListed(
		rows: number,
		of: { readonly total?: number | undefined; readonly asked?: number | undefined; came: number; flavour: Flavour },
	): Promise<boolean> {
		const { total, asked, came, flavour } = of;
		const all = range(Math.max(total ?? 0, came)).map((n) => documentOf(`doc-${n}`));
		const listDocuments: Api["listDocuments"] = async (_, { page, pageSize, id }) => {
			if (id !== undefined) return { items: all.filter((document) => document.id === id), total: 1 };
			if (asked === undefined && pageSize !== undefined) throw failure("rejected");
			return { items: came === 0 ? [] : all.slice((page - 1) * came, page * came), total };
		};
		const present = await presentOf(rows);
		await present.byId(fakeApi([], { listDocuments, dialect: { flavour, form: "json" } }), direct, "set", "doc-0");
		return present.isListed("set");
	}
});

type Lie = { readonly ignoresId?: boolean; readonly hidden?: string; readonly failsOn?: number };

/** A service of that many documents, which may ignore ids, hide a document, or fail on a page. */
function server(count: number, lie: Lie = {}) {
	const calls: string[] = [];
	const all = range(count).map((n): Document => documentOf(`doc-${n}`, new Map([["n", n]])));
	let failed = false;
	const listDocuments: Api["listDocuments"] = async (_, { page, pageSize = 100, id }) => {
		if (page === lie.failsOn && !failed) {
			failed = true;
			throw failure("ambiguous");
		}
		if (id !== undefined && lie.ignoresId !== true) {
			const items = all.filter((document) => document.id === id);
			return { items, total: items.length };
		}
		const listed = all.filter((document) => document.id !== lie.hidden);
		return { items: listed.slice((page - 1) * pageSize, page * pageSize), total: count };
	};
	return { calls, api: fakeApi(calls, { listDocuments }) };
}

async function presentOf(rows: number, clock: Clock = believing().clock, rowsLeft?: number): Promise<DocumentSource> {
	const path = await folder();
	const present = new DocumentSource({
		rows: new Map([["set", rows]]),
		rowsLeft,
		folder: async () => path,
		service: { ...believing(), clock },
	});
	onTestFinished(() => present.close());
	return present;
}

describe("the metadata of a document is read", () => {
	it.each<[string, count: number, lie: Lie, rows: number, left: number | undefined, asked: number[], most: number]>([
		["with one request for one row", 1_000, {}, 1, undefined, [700], 1],
		["with one for the last row of a run that goes on, however many it had", 1_000, {}, 1_000, 1, [700], 1],
		["with one for each of few rows, and one for the dataset's size", 1_000, {}, 3, undefined, [700, 701, 702], 4],
		["with one list if the service ignores the requested id", 250, { ignoresId: true }, 1, undefined, [201, 202], 6],
		["although a page fails once, or a long list would never end", 1_000, { failsOn: 6 }, 1_000, undefined, [999], 12],
		// Or an existing document would fail as absent.
		["by its id if the list hides it", 250, { hidden: "doc-3" }, 250, undefined, [3], 21],
	])("%s", async (_, count, lie, rows, left, asked, most) => {
		const { api, calls } = server(count, lie);
		const present = await presentOf(rows, undefined, left);
		for (const n of asked) {
			const found = await present.byId(api, direct, "set", `doc-${n}`);
			expect(found?.metadata).toEqual(new Map([["n", n]]));
		}
		expect(calls.length).toBeLessThanOrEqual(most);
	});

	it("with one list for many rows, even if they ask at the same time", async () => {
		const { api, calls } = server(1_000);
		const present = await presentOf(1_000);
		const found = await Promise.all(range(1_000).map((n) => present.byId(api, direct, "set", `doc-${n}`)));
		expect(found.map((held) => held?.metadata?.get("n"))).toEqual(range(1_000));
		expect(calls.length).toBeLessThanOrEqual(11);
		expect(await present.byId(api, direct, "set", "absent")).toBeUndefined();
		expect(calls.length).toBeLessThanOrEqual(11);
	});

	it("with another list where the last is too old, or what others wrote in a long run would be overwritten", async () => {
		const { calls, api } = server(300);
		const clock = new FakeClock();
		const source = await presentOf(300, clock);
		const closed = vi.spyOn(StoredDocuments.prototype, "close");
		onTestFinished(() => closed.mockRestore());
		const find = async (n: number) => (await source.byId(api, direct, "set", `doc-${n}`))?.metadata?.get("n");
		expect([await find(1), calls.length]).toEqual([1, 4]);
		await clock.pass(4_900);
		expect([await find(2), calls.length]).toEqual([2, 4]);
		for (const turns of [2, 3, 4]) {
			await clock.pass(5_001);
			// Rows that come at the same time read one list, and the one before is closed: it holds 20 MB of a million documents.
			const found = await Promise.all([find(turns), find(turns + 100)]);
			expect([found, calls.length]).toEqual([[turns, turns + 100], turns * 4]);
			expect(closed).toHaveBeenCalledTimes(turns - 1);
		}
	});

	it("and is not called absent if neither the list nor the request by id can show it", async () => {
		const { api } = server(250, { hidden: "doc-3", ignoresId: true });
		const present = await presentOf(250);
		await expect(present.byId(api, direct, "set", "doc-3")).rejects.toMatchObject({ code: "INCOMPLETE_LIST" });
	});

	it("and no row takes a name for free where the service ignores names and its list stays short", async () => {
		const { api } = server(250, { hidden: "doc-3" });
		const present = await presentOf(250);
		for (const name of ["a.txt", "b.txt"]) {
			await expect(present.byName(api, direct, "set", name)).rejects.toMatchObject({ code: "INCOMPLETE_LIST" });
		}
	});

	it("and is found in the list that another row reads again while the service is asked by its id", async () => {
		const lie = { hidden: "doc-3", ignoresId: true };
		const { api } = server(250, lie);
		const clock = new FakeClock();
		const present = await presentOf(250, clock);
		await present.byId(api, direct, "set", "doc-1");
		let letThrough = (): void => undefined;
		const listedAgain = new Promise<void>((resolve) => (letThrough = resolve));
		const late = await new Promise<{ readonly found: ReturnType<typeof present.byId> }>((isAsked) => {
			const held: typeof direct = async (send) => {
				isAsked({ found });
				await listedAgain;
				return send();
			};
			const found = present.byId(api, held, "set", "doc-3");
		});
		lie.hidden = "no document";
		await clock.pass(5_001);
		expect(await present.byId(api, direct, "set", "doc-1")).toBeDefined();
		letThrough();
		expect((await late.found)?.metadata).toEqual(new Map([["n", 3]]));
	});

	it("again after a failure, or one bad minute would fail every row", async () => {
		const { api } = server(1_000);
		const present = await presentOf(1_000);
		const refused = (): Promise<never> => Promise.reject(failure("rejected"));
		await expect(present.byId(api, refused, "set", "doc-1")).rejects.toMatchObject({ kind: "rejected" });
		expect(await present.byId(api, direct, "set", "doc-1")).toBeDefined();
	});
});
