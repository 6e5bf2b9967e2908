import { type Draft, type Header, envelopeOf, withBody, withEnvelope, withHeader, withStatus } from "../draft.ts";
import { both, type Kind } from "../kind.ts";

/** Colour, a title, the clipboard, a bell, going back and over the line, the other direction, the end of text. */
const control = "\u001b[31mred\u001b]0;title\u0007\u001b]52;c;YQ==\u0007\b\rover\u202egnp\u2069\u009b2J\u0000end";

/** Heads of answers. */
export const headerKinds = {
	"big-header": {
		about: "a header of so many bytes",
		takes: "bytes=100000",
		when: both,
		make: (given) => {
			const size = given.integer("bytes", 100_000, { least: 1, most: 100_000_000 });
			return { spoil: (draft) => withHeader(draft, "x-big", "b".repeat(size)) };
		},
	},
	"many-headers": {
		about: "so many headers",
		takes: "count=3000",
		when: both,
		make: (given) => {
			const count = given.integer("count", 3000, { least: 1, most: 1_000_000 });
			const more = Array.from({ length: count }, (_, index): Header => [`x-${index}`, String(index)]);
			return { spoil: (draft) => ({ ...draft, headers: [...draft.headers, ...more] }) };
		},
	},
	"nul-header": {
		about: "a header with a NUL in it",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => withHeader(draft, "x-nul", "a\u0000b") }),
	},
	"control-text": {
		about: "escape sequences, bidirectional marks and control characters where a terminal may show them",
		takes: "in=message|reason|header, status=200, code=102, text",
		when: both,
		make: (given) => {
			const place = given.choice("in", ["message", "reason", "header"]);
			const status = given.integer("status", 200, { least: 200, most: 999 });
			const code = given.integer("code", 102, { least: 0, most: Number.MAX_SAFE_INTEGER });
			const text = given.text("text", control);
			return {
				spoil: (draft) => {
					const changed = withStatus(draft, status);
					if (place === "message") return withBody(changed, JSON.stringify({ code, message: text }));
					// CR and LF would end the line, and so be another fault.
					const line = text.replace(/[\r\n]/g, "");
					return place === "reason" ? { ...changed, reason: line } : withHeader(changed, "x-control", line);
				},
			};
		},
	},
	"echo-key": {
		about: "the request's own header Authorization, given back where a client may print it",
		takes: "in=message|location|html|header|reason",
		when: both,
		make: (given) => {
			const place = given.choice("in", ["message", "location", "html", "header", "reason"]);
			return {
				spoil: (draft, { asked }) => echoed(draft, place, asked.headers.authorization ?? "no Authorization"),
			};
		},
	},
} satisfies Readonly<Record<string, Kind>>;

function echoed(draft: Draft, place: "message" | "location" | "html" | "header" | "reason", text: string): Draft {
	switch (place) {
		case "message":
			return withEnvelope(
				draft,
				new Map([...envelopeOf(draft), ["code", "102"], ["message", JSON.stringify(`no right with ${text}`)]]),
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
