import { chunk, type Draft, type EncodedAnswer, type Header, withHeader } from "../draft.ts";
import { both, bytes, type Fault, type FaultKind } from "../fault.ts";
import type { PlanParams } from "../plan-params.ts";

const wholeAnswer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"code":0}';

/** Answers whose end is marked wrongly, twice, or in an unusual way. */
export const framingKinds = {
	"wrong-length": {
		summary: "a Content-Length that is wrong by that many bytes; FIN follows",
		parameters: "by=10",
		when: both,
		create: (params) => {
			const by = params.integer("by", 10, { least: -bytes.most, most: bytes.most });
			if (by === 0) throw params.error('has a "by" of 0, which is no fault');
			return { alterAnswer: (draft) => bare({ ...draft, last: true }, length(draft, by)) };
		},
	},
	"two-lengths": {
		summary: "two headers Content-Length that differ by that many bytes; the first is right",
		parameters: "by=10",
		when: both,
		create: (params) => {
			const by = params.integer("by", 10, { least: -bytes.most, most: bytes.most });
			return { alterAnswer: (draft) => bare(draft, length(draft, 0), length(draft, by)) };
		},
	},
	"length-and-chunked": {
		summary: "Content-Length and Transfer-Encoding: chunked in one answer",
		parameters: "",
		when: both,
		create: () => ({
			alterAnswer: (draft) => ({
				...withHeader(draft, "content-length", String(draft.body.length)),
				framing: "chunked",
			}),
		}),
	},
	"bad-chunk": {
		summary: "a chunked body whose chunk has a length that is not a number",
		parameters: "",
		when: both,
		create: () => ({
			alterAnswer: (draft) => {
				const body = Buffer.concat([Buffer.from("zz\r\n"), draft.body, Buffer.from("\r\n0\r\n\r\n")]);
				return bare({ ...draft, body, last: true }, ["transfer-encoding", "chunked"]);
			},
		}),
	},
	chunked: {
		summary: "the true answer, chunked",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => ({ ...draft, framing: "chunked" }) }),
	},
	unframed: {
		summary: "the true answer without Content-Length, ended by FIN",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => ({ ...draft, framing: "close" }) }),
	},
	"connection-close": {
		summary: "the true answer with Connection: close, and the connection is closed",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => ({ ...draft, last: true }) }),
	},
	"http-1.0": {
		summary: "the true answer as HTTP/1.0, and the connection is closed",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => ({ ...draft, version: "1.0", last: true }) }),
	},
	extra: {
		summary: "more bytes after the true answer; by default a whole second one",
		parameters: "text",
		when: both,
		create: (params) => {
			const suffix = params.text("text", wholeAnswer);
			return { alterAnswer: (draft) => ({ ...draft, suffix }) };
		},
	},
	noise: {
		summary: "interim answers (1xx) before the answer",
		parameters: "statuses=[102,103]",
		when: both,
		create: (params) => {
			const statuses = params.integers("statuses", { least: 100, most: 199 }) ?? [102, 103];
			const prefix = statuses.map((status) => `HTTP/1.1 ${status} Noise\r\n\r\n`).join("");
			return { alterAnswer: (draft) => ({ ...draft, prefix }) };
		},
	},
	shifted: {
		summary: "the answer to the previous request with this method, as by a proxy that mixes up answers",
		parameters: "",
		when: both,
		create: () => ({
			appliesTo: (_request, previous) => previous !== undefined,
			alterAnswer: (draft, { previous }) => (previous === undefined ? undefined : { ...previous, last: draft.last }),
		}),
	},
} satisfies Readonly<Record<string, FaultKind>>;

function length({ body }: Draft, by: number): Header {
	return ["content-length", String(Math.max(0, body.length + by))];
}

function bare(draft: Draft, ...headers: readonly Header[]): Draft {
	return { ...draft, framing: "bare", headers: [...draft.headers, ...headers] };
}

/** A place in an answer, in bytes. A negative one counts from the end. */
const anywhere = { least: -bytes.most, most: bytes.most };

/** Answers that end too early. */
export const cutKinds = {
	cut: {
		summary: "the answer cut at a byte, counted from its first one, head included",
		parameters: "at=-1, how=fin|rst",
		when: both,
		create: (params) => ({ send: sendCut(params, ({ head, body }, at) => upTo(Buffer.concat([head, body]), at)) }),
	},
	"cut-body": {
		summary: "the body cut at a byte, under the Content-Length of the whole",
		parameters: "at=-1, how=fin|rst",
		when: both,
		create: (params) => ({ send: sendCut(params, ({ head, body }, at) => Buffer.concat([head, upTo(body, at)])) }),
	},
	"cut-chunked": {
		summary: "a chunked body cut at a byte of its text, without the last chunk",
		parameters: "at=-1, how=fin|rst",
		when: both,
		create: (params) => ({
			alterAnswer: (draft) => ({ ...draft, framing: "chunked" }),
			send: sendCut(params, ({ head, content }, at) => {
				const part = upTo(content, at);
				return part.length === 0 ? head : Buffer.concat([head, chunk(part)]);
			}),
		}),
	},
	"cut-unframed": {
		summary: "a body without Content-Length, ended by FIN too early: it looks complete to any client",
		parameters: "at=-1",
		when: both,
		create: (params) => {
			const at = params.integer("at", -1, anywhere);
			return { alterAnswer: (draft) => ({ ...draft, framing: "close", body: upTo(draft.body, at) }) };
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

/** Bytes of a status line up to its number: a client that received fewer has no status. */
const statusBytes = "HTTP/1.1 200".length;

/** Sends what `cut` leaves of an answer, and closes the connection. */
function sendCut(params: PlanParams, cut: (answer: EncodedAnswer, at: number) => Buffer): NonNullable<Fault["send"]> {
	const at = params.integer("at", -1, anywhere);
	const how = params.choice("how", ["fin", "rst"]);
	return async (answer, { channel }) => {
		const sent = cut(answer, at);
		await channel.send(sent);
		await (how === "rst" ? channel.closeWithRst() : channel.closeWithFin());
		return sent.length >= statusBytes ? answer.status : null;
	};
}

function upTo(whole: Buffer, at: number): Buffer {
	return whole.subarray(0, at < 0 ? Math.max(0, whole.length + at) : at);
}
