import { membersText, rawItems } from "../../json-text.ts";
import type { RequestInfo, FaultKind, When } from "../fault.ts";
import { type Draft, envelopeOf, objectMembers, withEnvelope } from "../draft.ts";

/** A read applies nothing, so it has one variant. */
const readOnly: readonly [When] = ["after"];

/** Lists that differ from the documents. These faults count only requests that list documents. */
export const listKinds = {
	"list-repeat": {
		summary: "each page from the second on begins with the last item of the page before",
		parameters: "",
		when: readOnly,
		create: () => ({
			appliesTo: (request, previous) => isList(request) && pageOf(request) > 1 && previous !== undefined,
			alterAnswer: (draft, { previous }) => {
				const last = previous === undefined ? undefined : itemsOf(previous)?.at(-1);
				if (last === undefined) return undefined;
				return withItems(draft, (items) => (items.length === 0 ? items : [last, ...items.slice(1)]));
			},
		}),
	},
	"list-omit": {
		summary: "an item is missing from the page, but the total counts it",
		parameters: "item=1; a negative number counts from the end",
		when: readOnly,
		create: (params) => {
			const item = params.integer("item", 1, { least: -1_000_000, most: 1_000_000 });
			return {
				appliesTo: isList,
				alterAnswer: (draft) =>
					withItems(draft, (items) => {
						const at = item < 0 ? items.length + item : item - 1;
						return items.filter((_, index) => index !== at);
					}),
			};
		},
	},
	"list-total": {
		summary: "a total that changes with each page, by up to that many",
		parameters: "by=5",
		when: readOnly,
		create: (params) => {
			const by = params.integer("by", 5, { least: 1, most: 1_000_000_000 });
			return {
				appliesTo: isList,
				alterAnswer: (draft, { random }) => {
					const off = 1 + Math.floor(random() * by);
					return withTotal(draft, random() < 0.5 ? -off : off);
				},
			};
		},
	},
	"list-same-page": {
		summary: "the first page, whichever page is requested",
		parameters: "",
		when: readOnly,
		create: () => ({
			appliesTo: (request) => isList(request) && pageOf(request) > 1,
			rewriteUrl: (request) => atPage(request, 1),
		}),
	},
	"list-cycle": {
		summary: "after that many pages the first page again, and so on",
		parameters: "pages=2",
		when: readOnly,
		create: (params) => {
			const pages = params.integer("pages", 2, { least: 1, most: 1_000_000 });
			return {
				appliesTo: (request) => isList(request) && pageOf(request) > pages,
				rewriteUrl: (request) => atPage(request, ((pageOf(request) - 1) % pages) + 1),
			};
		},
	},
	"list-empty-page": {
		summary: "a page without items, although others follow",
		parameters: "page=1",
		when: readOnly,
		create: (params) => {
			const page = params.integer("page", 1, { least: 1, most: Number.MAX_SAFE_INTEGER });
			return {
				appliesTo: (request) => isList(request) && pageOf(request) === page,
				alterAnswer: (draft) => withItems(draft, () => []),
			};
		},
	},
	"list-huge-page": {
		summary: "a page of that many items, the true ones repeated",
		parameters: "items=100000",
		when: readOnly,
		create: (params) => {
			const wanted = params.integer("items", 100_000, { least: 1, most: 10_000_000 });
			return {
				appliesTo: isList,
				alterAnswer: (draft) =>
					withItems(draft, (items) =>
						items.length === 0 ? items : Array.from({ length: wanted }, (_, at) => items[at % items.length] ?? ""),
					),
			};
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

function isList({ method, path }: RequestInfo): boolean {
	return method === "GET" && /^\/api\/v1\/datasets\/[^/]+\/documents$/.test(path);
}

function queryOf({ url, path }: RequestInfo): URLSearchParams {
	return new URLSearchParams(url.slice(path.length));
}

function pageOf(request: RequestInfo): number {
	return Number(queryOf(request).get("page") ?? 1);
}

function atPage(request: RequestInfo, page: number): string {
	const query = queryOf(request);
	query.set("page", String(page));
	return `${request.path}?${query.toString()}`;
}

function itemsOf(draft: Draft): readonly string[] | undefined {
	const docs = objectMembers(envelopeOf(draft).get("data") ?? "{}").get("docs");
	return docs === undefined ? undefined : rawItems(docs);
}

/** `undefined` where the answer is not a list. */
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
