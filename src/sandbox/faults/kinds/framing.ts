import { type Draft, type Header, withHeader } from "../draft.ts";
import { both, bytes, type Kind } from "../kind.ts";

const aWholeAnswer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"code":0}';

/** Answers whose end is told wrongly, twice, or in another way than usual. */
export const framingKinds = {
	"wrong-length": {
		about: "a Content-Length that is off by so many bytes; where it says too much, FIN follows",
		takes: "by=10",
		when: both,
		make: (given) => {
			const by = given.integer("by", 10, { least: -bytes.most, most: bytes.most });
			if (by === 0) throw given.wrong('has a "by" of 0, which is no fault');
			return { spoil: (draft) => bare({ ...draft, last: true }, length(draft, by)) };
		},
	},
	"two-lengths": {
		about: "two headers Content-Length that differ by so many bytes; the first is right",
		takes: "by=10",
		when: both,
		make: (given) => {
			const by = given.integer("by", 10, { least: -bytes.most, most: bytes.most });
			return { spoil: (draft) => bare(draft, length(draft, 0), length(draft, by)) };
		},
	},
	"length-and-chunked": {
		about: "Content-Length and Transfer-Encoding: chunked in one answer",
		takes: "",
		when: both,
		make: () => ({
			spoil: (draft) => ({ ...withHeader(draft, "content-length", String(draft.body.length)), framing: "chunked" }),
		}),
	},
	"bad-chunk": {
		about: "a chunked body whose chunk has a length that is no number",
		takes: "",
		when: both,
		make: () => ({
			spoil: (draft) => {
				const body = Buffer.concat([Buffer.from("zz\r\n"), draft.body, Buffer.from("\r\n0\r\n\r\n")]);
				return bare({ ...draft, body, last: true }, ["transfer-encoding", "chunked"]);
			},
		}),
	},
	chunked: {
		about: "a good answer, chunked",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => ({ ...draft, framing: "chunked" }) }),
	},
	unframed: {
		about: "a good answer without Content-Length, ended by FIN",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => ({ ...draft, framing: "close" }) }),
	},
	"connection-close": {
		about: "a good answer with Connection: close, and the end of the connection",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => ({ ...draft, last: true }) }),
	},
	"http-1.0": {
		about: "a good answer of HTTP/1.0, and the end of the connection",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => ({ ...draft, version: "1.0", last: true }) }),
	},
	extra: {
		about: "more bytes behind a good answer; unless told, a whole second one",
		takes: "text",
		when: both,
		make: (given) => {
			const behind = given.text("text", aWholeAnswer);
			return { spoil: (draft) => ({ ...draft, behind }) };
		},
	},
	noise: {
		about: "interim answers (1xx) before the answer",
		takes: "statuses=[102,103]",
		when: both,
		make: (given) => {
			const statuses = given.integers("statuses", { least: 100, most: 199 }) ?? [102, 103];
			const ahead = statuses.map((status) => `HTTP/1.1 ${status} Noise\r\n\r\n`).join("");
			return { spoil: (draft) => ({ ...draft, ahead }) };
		},
	},
	shifted: {
		about: "the answer to the request before, of the same method: an intermediary that is off by one",
		takes: "",
		when: both,
		make: () => ({
			suits: (_asked, previous) => previous !== undefined,
			spoil: (draft, { previous }) => (previous === undefined ? undefined : { ...previous, last: draft.last }),
		}),
	},
} satisfies Readonly<Record<string, Kind>>;

function length({ body }: Draft, by: number): Header {
	return ["content-length", String(Math.max(0, body.length + by))];
}

function bare(draft: Draft, ...headers: readonly Header[]): Draft {
	return { ...draft, framing: "bare", headers: [...draft.headers, ...headers] };
}
