import { TypedKeys } from "../../../src/json/typed-keys.ts";
import { describe, expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import type { Document, DocumentQuery } from "../../../src/rest/types.ts";
import { ReadAhead } from "../../../src/run/documents/read-ahead.ts";
import { Searches } from "../../../src/run/documents/searches.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { ragflowPatch, ragflowPut } from "../../support/flavours.ts";

const idOf = (n: number): string => `doc-${n}`;
const stored = (n: number): Document => documentOf(idOf(n), new Map([["n", n]]));

/** Rows for as many documents, and a service that answers for each request as `answer` says. */
function reading(
	rows: number,
	answer: (query: DocumentQuery) => readonly Document[] = ({ ids = [] }) =>
		range(rows)
			.map(stored)
			.filter(({ id }) => ids.includes(id)),
	flavour = ragflowPatch,
) {
	let now = 0;
	const asked: (readonly string[])[] = [];
	const quiet = (): void => undefined;
	const clock = { now: () => now, sleep: async () => undefined, random: () => 0 };
	const searches = new Searches({ clock, note: quiet, noteOnce: quiet });
	const api = searches.watching(
		fakeApi([], {
			dialect: { flavour, form: "json" },
			listDocuments: async (_, query) => {
				asked.push(query.ids ?? []);
				const items = answer(query);
				return { items, total: items.length };
			},
		}),
		new TypedKeys(),
	);
	const ahead = new ReadAhead({ clock, searches });
	ahead.expect(range(rows).map((n) => ({ datasetId: "set", documentId: idOf(n) })));
	const take = (n: number) => ahead.take({ api, request: direct, datasetId: "set" }, idOf(n));
	return { take, asked, wait: (milliseconds: number) => void (now += milliseconds) };
}

describe("the documents of the rows that come next", () => {
	it("are read by one request for a hundred of them, a witness among them", async () => {
		const { take, asked } = reading(250);
		for (const n of range(250)) expect(await take(n)).toMatchObject({ document: { id: idOf(n) } });
		expect(asked.map((ids) => ids.length)).toEqual([99, 100, 53]);
	});

	it("are read by one request where many rows are in flight", async () => {
		const { take, asked } = reading(50);
		await Promise.all(range(50).map(take));
		expect(asked).toHaveLength(1);
	});

	it("are read again where a slow run would use what is older than five seconds", async () => {
		const { take, asked, wait } = reading(50);
		await take(0);
		wait(5_001);
		await Promise.all([take(1), take(2)]);
		await take(3);
		expect(asked.map((ids) => ids.length)).toEqual([50, 50]);
	});

	it("are read again by one request after the service could not be reached", async () => {
		let answers = 0;
		const { take, asked } = reading(50, ({ ids = [] }) => {
			if (answers++ === 0) throw new RestError("no answer", { kind: "not_sent", code: "ECONNREFUSED" });
			return ids.map((id) => documentOf(id, new Map()));
		});
		const first = await Promise.allSettled([take(0), take(1)]);
		expect(first.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		for (const n of range(50)) expect(await take(n)).toMatchObject({ document: { id: idOf(n) } });
		expect(asked.map((ids) => ids.length)).toEqual([50, 50]);
	});

	it("are asked for one by one where one of them is not there, as only that answer says why", async () => {
		const { take } = reading(3, () => [stored(0), stored(2)]);
		expect([await take(0), await take(1), await take(2)]).toMatchObject([{}, "alone", {}]);
	});

	const refuses = (): never => {
		throw new RestError("ids must contain at most 100 IDs", { kind: "rejected", code: "CODE_101" });
	};
	it.each([
		["lists other documents than it was asked for", () => range(100).map(stored)],
		["refuses the request", refuses],
	])("are read in the old way where the service %s", async (_, answer) => {
		const { take, asked } = reading(3, answer);
		expect([await take(0), await take(1)]).toEqual([undefined, undefined]);
		expect(asked).toHaveLength(1);
	});

	it("are not asked for together at releases that do not know that", async () => {
		const { take, asked } = reading(3, undefined, ragflowPut);
		expect([await take(0), asked]).toEqual([undefined, []]);
	});
});
