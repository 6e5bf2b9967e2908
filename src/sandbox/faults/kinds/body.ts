import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type Draft, withBody, withHeader } from "../draft.ts";
import { both, type FaultKind, type Sent, type FaultContext } from "../fault.ts";

const megabyte = 1024 * 1024;

/** Bytes of an endless body that are sent again and again. */
const endlessPiece = 64 * 1024;

const banners = {
	bytes: "\u0000\u0001\u0002 this is no HTTP \u007f\r\n\r\n",
	ssh: "SSH-2.0-OpenSSH_9.6\r\n",
	// Alert, TLS 1.2, two bytes: fatal, unexpected message.
	tls: Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a]),
};

/** The header Content-Encoding, where it is not gzip. */
const codings: ReadonlyMap<string, string> = new Map([
	["deflate", "deflate"],
	["br", "br"],
	["twice", "gzip, gzip"],
	["unknown", "x-unknown"],
]);

/** Faults of bodies, and bytes that are no answer at all. */
export const bodyKinds = {
	garbage: {
		summary: "bytes that are not HTTP, then FIN: noise, the banner of an SSH server, a TLS alert, or any text",
		parameters: "what=bytes|ssh|tls, or text",
		when: both,
		create: (params) => {
			const what = params.choice("what", ["bytes", "ssh", "tls"]);
			const banner = params.optionalText("text") ?? banners[what];
			return {
				send: async (_answer, { channel }) => {
					await channel.send(banner);
					await channel.closeWithFin();
					return null;
				},
			};
		},
	},
	endless: {
		summary: "a body that never ends, sent as fast as it is read",
		parameters: "framing=close|chunked|length",
		when: both,
		create: (params) => {
			const framing = params.choice("framing", ["close", "chunked", "length"]);
			return {
				alterAnswer: (draft) => {
					if (framing !== "length") return { ...draft, framing, body: Buffer.alloc(0) };
					const whole = withHeader(draft, "content-length", String(Number.MAX_SAFE_INTEGER));
					return { ...whole, framing: "bare", body: Buffer.alloc(0) };
				},
				send: ({ head, status }, context) => pour(head, framing === "chunked", status, context),
			};
		},
	},
	"huge-length": {
		summary: "a Content-Length of that many bytes, the true body, then silence",
		parameters: "bytes=2147483648",
		when: both,
		create: (params) => {
			const length = params.integer("bytes", 2 ** 31, { least: 1, most: Number.MAX_SAFE_INTEGER });
			return {
				alterAnswer: (draft) => ({ ...withHeader(draft, "content-length", String(length)), framing: "bare" }),
				send: async ({ head, body, status }, { channel }) => {
					await channel.send(Buffer.concat([head, body]));
					await channel.untilClosed();
					return status;
				},
			};
		},
	},
	encoded: {
		summary: "a Content-Encoding: valid, damaged, cut, a bomb, applied twice, or unknown",
		parameters: "how=gzip|deflate|br|bad|cut|bomb|twice|unknown, megabytes=200 (of a bomb)",
		when: both,
		create: (params) => {
			const how = params.choice("how", ["gzip", "deflate", "br", "bad", "cut", "bomb", "twice", "unknown"]);
			const megabytes = params.integer("megabytes", 200, { least: 1, most: 10_000 });
			return {
				alterAnswer: (draft) => {
					const body = encoded(draft, how, megabytes);
					return withHeader(withBody(draft, body), "content-encoding", codings.get(how) ?? "gzip");
				},
			};
		},
	},
	"content-type": {
		summary: "the true answer with another Content-Type, or without one",
		parameters: "type=text/plain, or null for none",
		when: both,
		create: (params) => {
			const wanted = params.textOrNull("type");
			const type = wanted === undefined ? "text/plain" : wanted;
			return {
				alterAnswer: (draft) =>
					type === null
						? { ...draft, headers: draft.headers.filter(([name]) => name !== "content-type") }
						: withHeader(draft, "content-type", type),
			};
		},
	},
	bom: {
		summary: "the true answer after a byte-order mark",
		parameters: "",
		when: both,
		create: () => ({ alterAnswer: (draft) => withBody(draft, Buffer.concat([Buffer.from("\ufeff"), draft.body])) }),
	},
	"utf-16": {
		summary: "the true body in UTF-16, little-endian, with a byte-order mark",
		parameters: "",
		when: both,
		create: () => ({
			alterAnswer: (draft) => withBody(draft, Buffer.from(`\ufeff${draft.body.toString()}`, "utf16le")),
		}),
	},
	"bad-utf-8": {
		summary: "the true body with text in it that is not UTF-8",
		parameters: "",
		when: both,
		create: () => ({
			alterAnswer: (draft) => {
				// A byte that UTF-8 never has, and the first byte of a sequence of two without the second.
				const bad = Buffer.from([0xff, 0xc3]);
				const rest = draft.body.toString().replace(/^\{/, "");
				return withBody(draft, Buffer.concat([Buffer.from('{"note":"'), bad, Buffer.from(`",${rest}`)]));
			},
		}),
	},
	body: {
		summary: "another body, sent as it is: an array, null, a number, nothing",
		parameters: "text=[]",
		when: both,
		create: (params) => {
			const text = params.text("text", "[]");
			return { alterAnswer: (draft) => withBody(draft, text) };
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

async function pour(head: Buffer, chunked: boolean, status: number, { channel }: FaultContext): Sent {
	const spaces = " ".repeat(endlessPiece);
	const piece = Buffer.from(chunked ? `${endlessPiece.toString(16)}\r\n${spaces}\r\n` : spaces);
	await channel.send(head);
	while (!channel.isClosed) await channel.send(piece);
	return status;
}

function encoded({ body }: Draft, how: string, megabytes: number): Buffer {
	const whole = gzipSync(body);
	if (how === "deflate") return deflateSync(body);
	if (how === "br") return brotliCompressSync(body);
	if (how === "bad") return Buffer.concat([whole.subarray(0, 10), Buffer.alloc(whole.length - 10, 0xff)]);
	if (how === "cut") return whole.subarray(0, -8);
	if (how === "twice") return gzipSync(whole);
	if (how === "unknown") return Buffer.from("bytes of an unknown encoding");
	if (how !== "bomb") return whole;
	// A gzip file may consist of several in a row: so only one megabyte is compressed.
	const spaces = gzipSync(Buffer.alloc(megabyte, " "));
	return Buffer.concat([...Array.from({ length: megabytes }, () => spaces), whole]);
}
