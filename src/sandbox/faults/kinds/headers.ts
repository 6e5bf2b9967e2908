import { type Draft, type Header, envelopeOf, withBody, withEnvelope, withHeader, withStatus } from "../draft.ts";
import { both, type FaultKind } from "../fault.ts";

/** Escape sequences for colour, title and clipboard, then control characters, bidirectional marks and a NUL. */
const controlText = "\u001b[31mred\u001b]0;title\u0007\u001b]52;c;YQ==\u0007\b\rover\u202egnp\u2069\u009b2J\u0000end";

/** Faults of the status line and of headers. */
export const headerKinds = {
	"big-header": {
		summary: "a header of that many bytes",
		parameters: "bytes=100000",
		when: both,
		create: (params) => {
			const size = params.integer("bytes", 100_000, { least: 1, most: 100_000_000 });
			return { alterAnswer: (draft) => withHeader(draft, "x-big", "b".repeat(size)) };
		},
	},
	"many-headers": {
		summary: "that many headers",
		parameters: "count=3000",
		when: both,
		create: (params) => {
			const count = params.integer("count", 3000, { least: 1, most: 1_000_000 });
			const more = Array.from({ length: count }, (_, index): Header => [`x-${index}`, String(index)]);
			return { alterAnswer: (draft) => ({ ...draft, headers: [...draft.headers, ...more] }) };
		},
	},
	"nul-header": {
		summary: "a header with a NUL in it",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => withHeader(draft, "x-nul", "a\u0000b") }),
	},
	"control-text": {
		summary: "escape sequences, bidirectional marks and control characters in text that a client may print",
		parameters: "in=message|reason|header, status=200, code=102, text",
		when: both,
		create: (params) => {
			const place = params.choice("in", ["message", "reason", "header"]);
			const status = params.integer("status", 200, { least: 200, most: 999 });
			const code = params.integer("code", 102, { least: 0, most: Number.MAX_SAFE_INTEGER });
			const text = params.text("text", controlText);
			return {
				alterAnswer: (draft) => {
					const changed = withStatus(draft, status);
					if (place === "message") return withBody(changed, JSON.stringify({ code, message: text }));
					// CR and LF would end the line, which is another fault.
					const line = text.replace(/[\r\n]/g, "");
					return place === "reason" ? { ...changed, reason: line } : withHeader(changed, "x-control", line);
				},
			};
		},
	},
	"echo-key": {
		summary: "the header Authorization of the request, in text that a client may print",
		parameters: "in=message|location|html|header|reason",
		when: both,
		create: (params) => {
			const place = params.choice("in", ["message", "location", "html", "header", "reason"]);
			return {
				alterAnswer: (draft, { request }) => echoed(draft, place, request.headers.authorization ?? "no Authorization"),
			};
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

function echoed(draft: Draft, place: "message" | "location" | "html" | "header" | "reason", text: string): Draft {
	switch (place) {
		case "message":
			return withEnvelope(
				draft,
				new Map([...envelopeOf(draft), ["code", "102"], ["message", JSON.stringify(`no permission with ${text}`)]]),
			);
		case "location":
			return withHeader(withBody(withStatus(draft, 302), ""), "location", `/sign-in?with=${encodeURIComponent(text)}`);
		case "html":
			return withBody(withStatus(draft, 502), `<!doctype html><p>upstream refused ${text}</p>`, "text/html");
		case "header":
			return withHeader(withStatus(draft, 500), "x-echo", text);
		case "reason":
			return withStatus(draft, 500, `refused ${text}`);
	}
}
