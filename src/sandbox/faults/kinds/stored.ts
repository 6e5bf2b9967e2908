import { membersText, rawItems, rawMembers } from "../../json-text.ts";
import { splitValue } from "../../ragflow/metadata.ts";
import { type RequestInfo, both, type FaultKind } from "../fault.ts";
import { envelopeOf, withEnvelope } from "../draft.ts";

/** Answers that report a success, although other data are stored. */
export const storedKinds = {
	lie: {
		summary: "a success, although nothing is applied",
		parameters: "",
		when: ["before"],
		create: () => ({}),
	},
	normalise: {
		summary: "other metadata are stored than were sent: text is trimmed, or text in lists is split and trimmed",
		parameters: "how=trim|split",
		when: ["after"],
		create: (params) => {
			const change = params.choice("how", ["trim", "split"]) === "trim" ? trimmed : (raw: string) => splitValue(raw);
			return {
				appliesTo: isUpdate,
				alterMetadata: (metadata) =>
					membersText(new Map([...rawMembers(metadata)].map(([key, value]) => [key, change(value)]))),
			};
		},
	},
	forget: {
		summary: "metadata are stored, shown that many times by a list, and then replaced by the previous ones",
		parameters: "shown=1",
		when: ["after"],
		create: (params) => {
			const shown = params.integer("shown", 1, { least: 0, most: 1_000_000 });
			const waiting = new Map<string, { dataset: string; before: string; left: number }>();
			return {
				appliesTo: isUpdate,
				onReplaced: (dataset, document, before) => void waiting.set(document, { dataset, before, left: shown }),
				// With shown=0 they are replaced after the answer to the update itself, which is seen here, too.
				onAnswer: async ({ method, document: request = "" }, answer, store) => {
					const seen = method === "GET" ? idsIn(answer) : new Set([request]);
					for (const document of seen) {
						const lost = waiting.get(document);
						if (lost === undefined) continue;
						if (method === "GET") lost.left--;
						if (lost.left > 0) continue;
						waiting.delete(document);
						await store.commits.write(() => store.documents.replaceMetadata(lost.dataset, document, lost.before));
					}
				},
			};
		},
	},
	"upload-answer": {
		summary: "the answer to an upload names each document twice, none, all but the last, or in reverse order",
		parameters: "how=twice|none|short|reversed",
		when: both,
		create: (params) => {
			const how = params.choice("how", ["twice", "none", "short", "reversed"]);
			const change = {
				twice: (items: readonly string[]) => items.flatMap((item) => [item, item]),
				none: () => [],
				short: (items: readonly string[]) => items.slice(0, -1),
				reversed: (items: readonly string[]) => items.toReversed(),
			}[how];
			return {
				appliesTo: ({ method, path }) => method === "POST" && path.endsWith("/documents"),
				alterAnswer: (draft) => {
					const envelope = envelopeOf(draft);
					const data = envelope.get("data") ?? "";
					// A refused upload has stored no document.
					if (!data.startsWith("[")) return undefined;
					return withEnvelope(draft, envelope.set("data", `[${change(rawItems(data)).join(",")}]`));
				},
			};
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

/** The document ids in the text of an answer. */
function idsIn(answer: string): ReadonlySet<string> {
	return new Set(Array.from(answer.matchAll(/"id":"([^"\\]+)"/g), ([, id = ""]) => id));
}

function isUpdate({ method, document }: RequestInfo): boolean {
	return document !== undefined && (method === "PUT" || method === "PATCH");
}

function trimmed(raw: string): string {
	if (raw.startsWith("[")) return `[${rawItems(raw).map(trimmed).join(",")}]`;
	const text: unknown = raw.startsWith('"') ? JSON.parse(raw) : undefined;
	return typeof text === "string" ? JSON.stringify(text.trim()) : raw;
}
