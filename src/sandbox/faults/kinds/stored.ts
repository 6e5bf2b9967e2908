import { membersText, rawItems, rawMembers } from "../../members.ts";
import { storedValue } from "../../ragflow/metadata.ts";
import type { RequestInfo } from "../request-info.ts";
import { envelopeOf, withEnvelope } from "../draft.ts";
import { both, type Kind } from "../kind.ts";

/** Answers that are good, and data that are not what they say. */
export const storedKinds = {
	lie: {
		about: "a success, and nothing applied",
		takes: "",
		when: ["before"],
		make: () => ({}),
	},
	normalise: {
		about: "metadata are stored otherwise than sent: text trimmed, or text in lists split and trimmed",
		takes: "how=trim|split",
		when: ["after"],
		make: (given) => {
			const change = given.choice("how", ["trim", "split"]) === "trim" ? trimmed : (raw: string) => storedValue(raw);
			return {
				suits: writes,
				alter: (metadata) =>
					membersText(new Map([...rawMembers(metadata)].map(([key, value]) => [key, change(value)]))),
			};
		},
	},
	forget: {
		about: "metadata are stored, shown so many times by a list, and then put back to what was before",
		takes: "shown=1",
		when: ["after"],
		make: (given) => {
			const shown = given.integer("shown", 1, { least: 0, most: 1_000_000 });
			const waiting = new Map<string, { dataset: string; before: string; left: number }>();
			return {
				suits: writes,
				replaced: (dataset, document, before) => void waiting.set(document, { dataset, before, left: shown }),
				// With shown=0 it is gone with the answer to the update itself, which is seen here like any other.
				watch: async ({ method, document: asked = "" }, answer, store) => {
					const seen = method === "GET" ? namedIn(answer) : new Set([asked]);
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
		about: "the answer to an upload names each document twice, none, all but the last, or in reverse",
		takes: "how=twice|none|short|reversed",
		when: both,
		make: (given) => {
			const how = given.choice("how", ["twice", "none", "short", "reversed"]);
			const change = {
				twice: (items: readonly string[]) => items.flatMap((item) => [item, item]),
				none: () => [],
				short: (items: readonly string[]) => items.slice(0, -1),
				reversed: (items: readonly string[]) => items.toReversed(),
			}[how];
			return {
				suits: ({ method, path }) => method === "POST" && path.endsWith("/documents"),
				spoil: (draft) => {
					const envelope = envelopeOf(draft);
					const data = envelope.get("data") ?? "";
					// A refused upload has stored nothing that could be named.
					if (!data.startsWith("[")) return undefined;
					return withEnvelope(draft, envelope.set("data", `[${change(rawItems(data)).join(",")}]`));
				},
			};
		},
	},
} satisfies Readonly<Record<string, Kind>>;

/** The ids in a list. */
function namedIn(answer: string): ReadonlySet<string> {
	return new Set(Array.from(answer.matchAll(/"id":"([^"\\]+)"/g), ([, id = ""]) => id));
}

function writes({ method, document }: RequestInfo): boolean {
	return document !== undefined && (method === "PUT" || method === "PATCH");
}

function trimmed(raw: string): string {
	if (raw.startsWith("[")) return `[${rawItems(raw).map(trimmed).join(",")}]`;
	const text: unknown = raw.startsWith('"') ? JSON.parse(raw) : undefined;
	return typeof text === "string" ? JSON.stringify(text.trim()) : raw;
}
