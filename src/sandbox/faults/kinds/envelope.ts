import { type Draft, envelopeOf, objectMembers, withBody, withEnvelope, withStatus } from "../draft.ts";
import { membersText } from "../../members.ts";
import type { PlanParams } from "../plan-params.ts";
import { both, type Kind } from "../kind.ts";
import { bodyBytes } from "./body.ts";

/** Envelopes that say something else than what happened. */
export const envelopeKinds = {
	code: {
		about: 'a code with a message; as JSON text (raw) also what JSON.stringify would not write: -0, 1e-400, "0"',
		takes: "code=102, raw=JSON TEXT, message, data=JSON, status=200",
		when: both,
		make: (given) => {
			const code = rawCode(given);
			const message = given.text("message", "the sandbox was told to say so");
			const data = given.value("data");
			const status = given.integer("status", 200, { least: 200, most: 999 });
			const rest = data === undefined ? "" : `,"data":${JSON.stringify(data)}`;
			const text = `{"code":${code},"message":${JSON.stringify(message)}${rest}}`;
			return { spoil: (draft) => withBody(withStatus(draft, status), text) };
		},
	},
	"no-code": {
		about: "the true envelope without its code",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => without(draft, "code") }),
	},
	"no-data": {
		about: "the true envelope without its data",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => without(draft, "data") }),
	},
	"two-codes": {
		about: "the code twice in one envelope; a parser sees the last one alone",
		takes: "first=102, last=0",
		when: both,
		make: (given) => {
			const any = { least: -1_000_000, most: 1_000_000 };
			const [first, last] = [given.integer("first", 102, any), given.integer("last", 0, any)];
			return {
				spoil: (draft) => {
					const rest = membersText(new Map([...envelopeOf(draft)].filter(([name]) => name !== "code")));
					const more = rest === "{}" ? "}" : `,${rest.slice(1)}`;
					return withBody(draft, `{"code":${first},"code":${last}${more}`);
				},
			};
		},
	},
	message: {
		about: "the true code with a message of so many bytes, or one that is no text",
		takes: "bytes=10000000, value=JSON in its place, code=JSON in place of the true one",
		when: both,
		make: (given) => {
			const size = given.integer("bytes", 10_000_000, bodyBytes);
			const [value, code] = [given.value("value"), given.value("code")];
			return {
				spoil: (draft) => {
					const message = JSON.stringify(value === undefined ? "m".repeat(size) : value);
					const changed = envelopeOf(draft).set("message", message);
					return withEnvelope(draft, code === undefined ? changed : changed.set("code", JSON.stringify(code)));
				},
			};
		},
	},
	"document-id": {
		about: "a success that names no document, another one, or the same in other letters",
		takes: "how=other|missing|case|number|null, id=(32 f)",
		when: both,
		make: (given) => {
			const how = given.choice("how", ["other", "missing", "case", "number", "null"]);
			const other = given.text("id", "f".repeat(32));
			return {
				// An id without letters has no other case.
				suits: ({ document = "" }) => how !== "case" || flipped(document) !== document,
				spoil: (draft, { asked: { document = "" } }) => {
					if (how === "missing") return withId(draft, undefined);
					const ids = { other, case: flipped(document), number: 12, null: null };
					return withId(draft, JSON.stringify(ids[how]));
				},
			};
		},
	},
	deep: {
		about: "data that are so many arrays, one inside the other",
		takes: "depth=100000",
		when: both,
		make: (given) => {
			const depth = given.integer("depth", 100_000, { least: 1, most: 10_000_000 });
			const data = "[".repeat(depth) + "]".repeat(depth);
			return { spoil: (draft) => withEnvelope(draft, envelopeOf(draft).set("data", data)) };
		},
	},
} satisfies Readonly<Record<string, Kind>>;

function rawCode(given: PlanParams): string {
	const [code, raw] = [given.value("code"), given.maybeText("raw")];
	return raw ?? (code === undefined ? "102" : JSON.stringify(code));
}

function without(draft: Draft, member: string): Draft {
	return withEnvelope(draft, new Map([...envelopeOf(draft)].filter(([name]) => name !== member)));
}

/** Other letters: large ones small, small ones large. */
function flipped(text: string): string {
	return text.toUpperCase() === text ? text.toLowerCase() : text.toUpperCase();
}

/** The answer with this id, as JSON text, under whichever name the flavour has for it. */
function withId(draft: Draft, id: string | undefined): Draft {
	const envelope = envelopeOf(draft);
	const data = objectMembers(envelope.get("data") ?? "{}");
	const name = data.has("id") ? "id" : "document_id";
	if (id === undefined) data.delete(name);
	else data.set(name, id);
	return withEnvelope(draft, envelope.set("data", membersText(data)));
}
