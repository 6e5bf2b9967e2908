import { type Draft, envelopeOf, objectMembers, withBody, withEnvelope, withStatus } from "../draft.ts";
import { membersText } from "../../json-text.ts";
import type { PlanParams } from "../plan-params.ts";
import { bodyBytes, both, type FaultKind } from "../fault.ts";

/** Envelopes that do not match what was done. */
export const envelopeKinds = {
	code: {
		summary: 'a code with a message; raw is the code as JSON text, which can be -0, 1e-400 or "0"',
		parameters: "code=102, raw=JSON TEXT, message, data=JSON, status=200",
		when: both,
		create: (params) => {
			const code = rawCode(params);
			const message = params.text("message", "a fault of the sandbox");
			const data = params.value("data");
			const status = params.integer("status", 200, { least: 200, most: 999 });
			const rest = data === undefined ? "" : `,"data":${JSON.stringify(data)}`;
			const text = `{"code":${code},"message":${JSON.stringify(message)}${rest}}`;
			return { alterAnswer: (draft) => withBody(withStatus(draft, status), text) };
		},
	},
	"no-code": {
		summary: "the true envelope without its code",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => without(draft, "code") }),
	},
	"no-data": {
		summary: "the true envelope without its data",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => without(draft, "data") }),
	},
	"two-codes": {
		summary: "the code twice in one envelope; parsers take the last one",
		parameters: "first=102, last=0",
		when: both,
		create: (params) => {
			const any = { least: -1_000_000, most: 1_000_000 };
			const [first, last] = [params.integer("first", 102, any), params.integer("last", 0, any)];
			return {
				alterAnswer: (draft) => {
					const rest = membersText(new Map([...envelopeOf(draft)].filter(([name]) => name !== "code")));
					const more = rest === "{}" ? "}" : `,${rest.slice(1)}`;
					return withBody(draft, `{"code":${first},"code":${last}${more}`);
				},
			};
		},
	},
	message: {
		summary: "the true code with a message of that many bytes, or one that is not text",
		parameters: "bytes=10000000, or value=JSON; code=JSON in place of the true one",
		when: both,
		create: (params) => {
			const size = params.integer("bytes", 10_000_000, bodyBytes);
			const [value, code] = [params.value("value"), params.value("code")];
			return {
				alterAnswer: (draft) => {
					const message = JSON.stringify(value === undefined ? "m".repeat(size) : value);
					const changed = envelopeOf(draft).set("message", message);
					return withEnvelope(draft, code === undefined ? changed : changed.set("code", JSON.stringify(code)));
				},
			};
		},
	},
	"document-id": {
		summary: "a success that names no document, another one, or the same in the other case",
		parameters: "how=other|missing|case|number|null, id=(32 f)",
		when: both,
		create: (params) => {
			const how = params.choice("how", ["other", "missing", "case", "number", "null"]);
			const other = params.text("id", "f".repeat(32));
			return {
				// An id without letters is the same in both cases.
				appliesTo: ({ document = "" }) => how !== "case" || otherCase(document) !== document,
				alterAnswer: (draft, { request: { document = "" } }) => {
					if (how === "missing") return withId(draft, undefined);
					const ids = { other, case: otherCase(document), number: 12, null: null };
					return withId(draft, JSON.stringify(ids[how]));
				},
			};
		},
	},
	deep: {
		summary: "data of that many nested arrays",
		parameters: "depth=100000",
		when: both,
		create: (params) => {
			const depth = params.integer("depth", 100_000, { least: 1, most: 10_000_000 });
			const data = "[".repeat(depth) + "]".repeat(depth);
			return { alterAnswer: (draft) => withEnvelope(draft, envelopeOf(draft).set("data", data)) };
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

function rawCode(params: PlanParams): string {
	const [code, raw] = [params.value("code"), params.optionalText("raw")];
	return raw ?? (code === undefined ? "102" : JSON.stringify(code));
}

function without(draft: Draft, member: string): Draft {
	return withEnvelope(draft, new Map([...envelopeOf(draft)].filter(([name]) => name !== member)));
}

/** Text in the other case. */
function otherCase(text: string): string {
	return text.toUpperCase() === text ? text.toLowerCase() : text.toUpperCase();
}

/** The answer with this id, as JSON text, under the member that the flavour has for it; `undefined` removes it. */
function withId(draft: Draft, id: string | undefined): Draft {
	const envelope = envelopeOf(draft);
	const data = objectMembers(envelope.get("data") ?? "{}");
	const name = data.has("id") ? "id" : "document_id";
	if (id === undefined) data.delete(name);
	else data.set(name, id);
	return withEnvelope(draft, envelope.set("data", membersText(data)));
}
