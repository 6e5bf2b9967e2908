import { membersText, rawItems } from "../../members.ts";
import type { RequestInfo } from "../request-info.ts";
import { type Draft, envelopeOf, objectMembers, withEnvelope } from "../draft.ts";
import type { Kind, When } from "../kind.ts";

/** A read applies nothing, so it has one variant. */
const reading: readonly [When] = ["after"];

/** Lists of documents that are not what is there. Each of them is for requests that list, and looks at no other. */
export const listKinds = {
	"list-repeat": {
		about: "the first item of each page from the second on is the last of the page before",
		takes: "",
		when: reading,
		make: () => ({
			suits: (asked, previous) => lists(asked) && pageOf(asked) > 1 && previous !== undefined,
			spoil: (draft, { previous }) => {
				const last = previous === undefined ? undefined : itemsOf(previous)?.at(-1);
				if (last === undefined) return undefined;
				return withItems(draft, (items) => (items.length === 0 ? items : [last, ...items.slice(1)]));
			},
		}),
	},
	"list-omit": {
		about: "an item is left out of the page; the total still counts it",
		takes: "item=1, negative from the end",
		when: reading,
		make: (given) => {
			const item = given.integer("item", 1, { least: -1_000_000, most: 1_000_000 });
			return {
				suits: lists,
				spoil: (draft) =>
					withItems(draft, (items) => {
						const at = item < 0 ? items.length + item : item - 1;
						return items.filter((_, index) => index !== at);
					}),
			};
		},
	},
	"list-total": {
		about: "the total is another one with each page, off by up to so many",
		takes: "by=5",
		when: reading,
		make: (given) => {
			const by = given.integer("by", 5, { least: 1, most: 1_000_000_000 });
			return {
				suits: lists,
				spoil: (draft, { random }) => {
					const off = 1 + Math.floor(random() * by);
					return withTotal(draft, random() < 0.5 ? -off : off);
				},
			};
		},
	},
	"list-same-page": {
		about: "the first page for ever, whichever is asked for",
		takes: "",
		when: reading,
		make: () => ({ suits: (asked) => lists(asked) && pageOf(asked) > 1, ask: (asked) => atPage(asked, 1) }),
	},
	"list-cycle": {
		about: "after so many pages the first comes again, and so on",
		takes: "pages=2",
		when: reading,
		make: (given) => {
			const pages = given.integer("pages", 2, { least: 1, most: 1_000_000 });
			return {
				suits: (asked) => lists(asked) && pageOf(asked) > pages,
				ask: (asked) => atPage(asked, ((pageOf(asked) - 1) % pages) + 1),
			};
		},
	},
	"list-empty-page": {
		about: "a page without items, though more follow",
		takes: "page=1",
		when: reading,
		make: (given) => {
			const page = given.integer("page", 1, { least: 1, most: Number.MAX_SAFE_INTEGER });
			return {
				suits: (asked) => lists(asked) && pageOf(asked) === page,
				spoil: (draft) => withItems(draft, () => []),
			};
		},
	},
	"list-huge-page": {
		about: "a page of so many items, the true ones again and again",
		takes: "items=100000",
		when: reading,
		make: (given) => {
			const wanted = given.integer("items", 100_000, { least: 1, most: 10_000_000 });
			return {
				suits: lists,
				spoil: (draft) =>
					withItems(draft, (items) =>
						items.length === 0 ? items : Array.from({ length: wanted }, (_, at) => items[at % items.length] ?? ""),
					),
			};
		},
	},
} satisfies Readonly<Record<string, Kind>>;

function lists({ method, path }: RequestInfo): boolean {
	return method === "GET" && /^\/api\/v1\/datasets\/[^/]+\/documents$/.test(path);
}

function queryOf({ url, path }: RequestInfo): URLSearchParams {
	return new URLSearchParams(url.slice(path.length));
}

function pageOf(asked: RequestInfo): number {
	return Number(queryOf(asked).get("page") ?? 1);
}

function atPage(asked: RequestInfo, page: number): string {
	const query = queryOf(asked);
	query.set("page", String(page));
	return `${asked.path}?${query.toString()}`;
}

function itemsOf(draft: Draft): readonly string[] | undefined {
	const docs = objectMembers(envelopeOf(draft).get("data") ?? "{}").get("docs");
	return docs === undefined ? undefined : rawItems(docs);
}

/** `undefined` where the answer is no list. */
function withItems(draft: Draft, change: (items: readonly string[]) => readonly string[]): Draft | undefined {
	const items = itemsOf(draft);
	if (items === undefined) return undefined;
	return withData(draft, "docs", `[${change(items).join(",")}]`);
}

function withTotal(draft: Draft, by: number): Draft | undefined {
	const total = objectMembers(envelopeOf(draft).get("data") ?? "{}").get("total");
	return total === undefined ? undefined : withData(draft, "total", String(Math.max(0, Number(total) + by)));
}

function withData(draft: Draft, name: string, value: string): Draft {
	const envelope = envelopeOf(draft);
	const data = objectMembers(envelope.get("data") ?? "{}").set(name, value);
	return withEnvelope(draft, envelope.set("data", membersText(data)));
}
