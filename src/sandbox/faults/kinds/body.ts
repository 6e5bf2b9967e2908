import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type Draft, withBody, withHeader } from "../draft.ts";
import { both, bytes, type Kind, type Sent, type Strike } from "../kind.ts";

const megabyte = 1024 * 1024;

/** Bytes of an endless body that are made once and sent again and again. */
const endlessPiece = 64 * 1024;

const banners = {
	bytes: "\u0000\u0001\u0002 this is no HTTP \u007f\r\n\r\n",
	ssh: "SSH-2.0-OpenSSH_9.6\r\n",
	// Alert, TLS 1.2, two bytes: fatal, unexpected message.
	tls: Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a]),
};

/** What the header says, where it is not gzip. */
const codings: ReadonlyMap<string, string> = new Map([
	["deflate", "deflate"],
	["br", "br"],
	["twice", "gzip, gzip"],
	["unknown", "of-tomorrow"],
]);

/** Bodies, and what comes in place of an answer. */
export const bodyKinds = {
	garbage: {
		about: "bytes that are no HTTP, and FIN: noise, the banner of an SSH server, a TLS alert, or any text",
		takes: "what=bytes|ssh|tls, text in its place",
		when: both,
		make: (given) => {
			const what = given.choice("what", ["bytes", "ssh", "tls"]);
			const banner = given.maybeText("text") ?? banners[what];
			return {
				send: async (_answer, { channel }) => {
					await channel.send(banner);
					await channel.hangUp();
					return null;
				},
			};
		},
	},
	endless: {
		about: "a body that never ends, as fast as it is read",
		takes: "framing=close|chunked|length",
		when: both,
		make: (given) => {
			const framing = given.choice("framing", ["close", "chunked", "length"]);
			return {
				spoil: (draft) => {
					if (framing !== "length") return { ...draft, framing, body: Buffer.alloc(0) };
					const whole = withHeader(draft, "content-length", String(Number.MAX_SAFE_INTEGER));
					return { ...whole, framing: "bare", body: Buffer.alloc(0) };
				},
				send: ({ head, status }, strike) => pour(head, framing === "chunked", status, strike),
			};
		},
	},
	"huge-length": {
		about: "a Content-Length of so many bytes, the true body, and silence",
		takes: "bytes=2147483648",
		when: both,
		make: (given) => {
			const length = given.integer("bytes", 2 ** 31, { least: 1, most: Number.MAX_SAFE_INTEGER });
			return {
				spoil: (draft) => ({ ...withHeader(draft, "content-length", String(length)), framing: "bare" }),
				send: async ({ head, body, status }, { channel }) => {
					await channel.send(Buffer.concat([head, body]));
					await channel.gone();
					return status;
				},
			};
		},
	},
	encoded: {
		about: "a Content-Encoding: good, bad, cut, a bomb, applied twice, or one that nobody knows",
		takes: "how=gzip|deflate|br|bad|cut|bomb|twice|unknown, megabytes=200 (of a bomb)",
		when: both,
		make: (given) => {
			const how = given.choice("how", ["gzip", "deflate", "br", "bad", "cut", "bomb", "twice", "unknown"]);
			const megabytes = given.integer("megabytes", 200, { least: 1, most: 10_000 });
			return {
				spoil: (draft) => {
					const body = encoded(draft, how, megabytes);
					return withHeader(withBody(draft, body), "content-encoding", codings.get(how) ?? "gzip");
				},
			};
		},
	},
	"content-type": {
		about: "a good answer under another Content-Type, or under none",
		takes: "type=text/plain, or null for none",
		when: both,
		make: (given) => {
			const wanted = given.value("type");
			if (wanted !== undefined && wanted !== null && typeof wanted !== "string")
				throw given.wrong('has a "type" that is neither text nor null');
			const type = wanted === undefined ? "text/plain" : wanted;
			return {
				spoil: (draft) =>
					type === null
						? { ...draft, headers: draft.headers.filter(([name]) => name !== "content-type") }
						: withHeader(draft, "content-type", type),
			};
		},
	},
	bom: {
		about: "a good answer behind a byte-order mark",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => withBody(draft, Buffer.concat([Buffer.from("\ufeff"), draft.body])) }),
	},
	"utf-16": {
		about: "the body in UTF-16, little-endian, with a byte-order mark",
		takes: "",
		when: both,
		make: () => ({ spoil: (draft) => withBody(draft, Buffer.from(`\ufeff${draft.body.toString()}`, "utf16le")) }),
	},
	"bad-utf-8": {
		about: "a body with text in it that holds bytes that are not UTF-8",
		takes: "",
		when: both,
		make: () => ({
			spoil: (draft) => {
				// A byte that is never in UTF-8, and the first of a sequence of two, alone.
				const bad = Buffer.from([0xff, 0xc3]);
				const rest = draft.body.toString().replace(/^\{/, "");
				return withBody(draft, Buffer.concat([Buffer.from('{"note":"'), bad, Buffer.from(`",${rest}`)]));
			},
		}),
	},
	body: {
		about: "another body, as it stands: an array, null, a number, nothing",
		takes: "text=[]",
		when: both,
		make: (given) => {
			const text = given.text("text", "[]");
			return { spoil: (draft) => withBody(draft, text) };
		},
	},
} satisfies Readonly<Record<string, Kind>>;

async function pour(head: Buffer, chunked: boolean, status: number, { channel }: Strike): Sent {
	const spaces = " ".repeat(endlessPiece);
	const piece = Buffer.from(chunked ? `${endlessPiece.toString(16)}\r\n${spaces}\r\n` : spaces);
	await channel.send(head);
	while (!channel.isGone) await channel.send(piece);
	return status;
}

function encoded({ body }: Draft, how: string, megabytes: number): Buffer {
	const whole = gzipSync(body);
	if (how === "deflate") return deflateSync(body);
	if (how === "br") return brotliCompressSync(body);
	if (how === "bad") return Buffer.concat([whole.subarray(0, 10), Buffer.alloc(whole.length - 10, 0xff)]);
	if (how === "cut") return whole.subarray(0, -8);
	if (how === "twice") return gzipSync(whole);
	if (how === "unknown") return Buffer.from("what this is, nobody can say");
	if (how !== "bomb") return whole;
	// A gzip file may be several, one behind the other: so no more than one megabyte is ever held.
	const spaces = gzipSync(Buffer.alloc(megabyte, " "));
	return Buffer.concat([...Array.from({ length: megabytes }, () => spaces), whole]);
}

/** What a plan may ask of a body's size is bounded by what fits into memory. */
export const bodyBytes = { least: 1, most: Math.min(bytes.most, 256 * megabyte) };
