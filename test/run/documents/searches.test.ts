import { TypedKeys } from "../../../src/json/typed-keys.ts";
import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import { documented, type Flavour } from "../../../src/rest/flavours.ts";
import type { Document, Page } from "../../../src/rest/types.ts";
import { AWAIT, type Doubts, MARK, REFUSE, Searches, WARN } from "../../../src/run/documents/searches.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { ragflowPatch, ragflowPut } from "../../support/flavours.ts";

const tagged = (...entries: [string, JsonValue][]): Metadata => new Map(entries);
const untagged = documentOf("untagged", new Map());
const other = documentOf("other", tagged(["author", "Ann"]));

type State = { readonly documents: readonly Document[]; readonly elsewhere: readonly Document[] };

/**
 * A service whose lists show metadata only where its searches work. Time passes with each wait, and `works` says by the time and
 * the number of the list whether they work.
 */
function service(
	{ documents, elsewhere }: State,
	works: (milliseconds: number, list: number) => boolean,
	{
		flavour = ragflowPatch,
		right = "unknown",
		maxOutage,
	}: { readonly flavour?: Flavour; readonly right?: "may" | "unknown"; readonly maxOutage?: number } = {},
) {
	let now = 0;
	let lists = 0;
	const notes: string[] = [];
	const clock = { now: () => now, sleep: async (milliseconds: number) => void (now += milliseconds), random: () => 0 };
	const note = (text: string): void => void notes.push(text);
	const searches = new Searches({ clock, note, noteOnce: (_, text) => note(text) }, maxOutage);
	const plain = fakeApi([], {
		dialect: { flavour, form: "json" },
		probeRight: async () => right,
		listDatasets: async () => ({
			items: [
				{ id: "set", name: "set", documentCount: documents.length },
				{ id: "elsewhere", name: "elsewhere", documentCount: elsewhere.length },
			],
			total: 2,
		}),
		listDocuments: async (dataset, { id }) => {
			lists += 1;
			const all = dataset === "set" ? documents : elsewhere;
			const found = all.filter((each) => id === undefined || each.id === id);
			const isShown = works(now, lists);
			const items = found.map((each) => (isShown ? each : { ...each, metadata: new Map() }));
			return { items, total: items.length };
		},
	});
	const api = searches.watching(plain, new TypedKeys());
	const page = (doubts: Doubts, id?: string): Promise<Page<Document>> =>
		searches.believing(
			direct,
			doubts,
		)(() => api.listDocuments("set", { page: 1, pageSize: 10, ...(id === undefined ? {} : { id }) }));
	return { page, searches, notes, lists: () => lists, waited: () => now };
}

const always = (): boolean => true;
const never = (): boolean => false;
const metadataOf = ({ items }: Page<Document>): unknown[] => items.map(({ metadata }) => metadata);

describe("metadata that a failing search hides", () => {
	it.each([3_000, 10_000])("is waited for where a merge would wipe it, and found again after %i ms", async (away) => {
		const { page, waited } = service({ documents: [other], elsewhere: [] }, (time) => time >= away);
		expect(metadataOf(await page(REFUSE))).toEqual([other.metadata]);
		expect(waited()).toBeGreaterThanOrEqual(away);
	});

	it("ends the run with 6 where searches fail for good, and says what writes the same if there is none", async () => {
		const { page, waited } = service({ documents: [other], elsewhere: [other] }, never);
		await expect(page(REFUSE)).rejects.toMatchObject({
			exit: 6,
			hint: expect.stringContaining("If these documents have no metadata, `--mode replace` writes the same."),
		});
		expect(waited()).toBe(20_000);
	});

	it("is waited for as long as an outage may last where documents have shown metadata before", async () => {
		const state = { documents: [other], elsewhere: [] };
		const { page, waited } = service(state, (_, list) => list === 1, { maxOutage: 60_000 });
		await page(REFUSE);
		await expect(page(REFUSE)).rejects.toMatchObject({ exit: 6 });
		expect(waited()).toBe(60_000);
	});

	it("is not lost where one search of many fails, in the middle of a list", async () => {
		const { page, waited } = service({ documents: [other], elsewhere: [] }, (_, list) => list !== 2);
		await page(REFUSE);
		expect(metadataOf(await page(REFUSE))).toEqual([other.metadata]);
		expect(waited()).toBe(0);
	});

	it("is not believed to be gone where searches fail again right after another document was shown", async () => {
		// The page, the look at another document, the page again: only the look succeeds.
		const state = { documents: [untagged], elsewhere: [other] };
		const { page } = service(state, (_, list) => list <= 4 && list !== 1, { maxOutage: 5_000 });
		await expect(page(REFUSE)).rejects.toMatchObject({ exit: 6 });
	});

	it("is waited for before what was written is called lost", async () => {
		const { page } = service({ documents: [other], elsewhere: [] }, (time) => time >= 10_000);
		expect(metadataOf(await page(AWAIT))).toEqual([other.metadata]);
	});
});

describe("documents that have no metadata", () => {
	it("are believed without a wait where another document of the key shows metadata", async () => {
		const { page, searches, waited, lists, notes } = service({ documents: [untagged], elsewhere: [other] }, always);
		const { items } = await page(REFUSE);
		expect([items.map((each) => searches.marked(each)), waited(), notes]).toEqual([[untagged], 0, []]);
		expect(lists()).toBe(6);
	});

	it("are marked after a second where no document of the key has any, and the next ones at once", async () => {
		const { page, searches, waited, lists, notes } = service({ documents: [untagged], elsewhere: [] }, always);
		const { items } = await page(MARK);
		expect(items.map((each) => searches.marked(each))).toEqual([{ ...untagged, isDoubted: true }]);
		expect([waited(), notes]).toEqual([1_000, []]);
		const before = lists();
		await page(MARK);
		expect([waited(), lists() - before]).toEqual([1_000, 1]);
	});

	it("are shown with a warning where no document of the key has any", async () => {
		const { page, notes } = service({ documents: [untagged], elsewhere: [] }, always);
		await page(WARN);
		expect(notes).toEqual([expect.stringMatching(/^warning: .* the search engine of the service is failing$/)]);
	});

	it.each([
		["may", 0],
		["unknown", 20_000],
	] as const)("are believed where a release with PUT answers a plain body by %s, after %i ms", async (right, wait) => {
		const state = { documents: [untagged], elsewhere: [] };
		const { page, waited } = service(state, always, { flavour: ragflowPut, right });
		await page(REFUSE).catch(() => undefined);
		expect(waited()).toBe(wait);
	});

	it("cost no request more at a service whose lists hide nothing", async () => {
		const state = { documents: [untagged], elsewhere: [] };
		const { page, lists } = service(state, always, { flavour: documented });
		await page(REFUSE);
		expect(lists()).toBe(1);
	});
});
