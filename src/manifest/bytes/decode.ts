import { isUtf8 } from "node:buffer";
import { ReadingStop } from "../fault.ts";
import { type Decoder, decoderOf } from "./encodings.ts";
import { PIECE_BYTES } from "../limits.ts";

/**
 * The text of a manifest, in pieces that never cut a character in two. A block is used until the next one is asked for.
 *
 * UTF-8 with or without a byte-order mark, UTF-16 with one. Nothing is ever replaced by U+FFFD. All text before the
 * fault is passed on before it throws, so that the reader knows its line and column.
 *
 * @param encoding of a file without a byte-order mark, as `encodingOf` names it; UTF-8 by default
 * @throws Stop
 */
export async function* decode(chunks: AsyncIterable<Buffer>, encoding?: string): AsyncGenerator<string> {
	let decoder: Decoder | undefined;
	let head: Buffer = Buffer.alloc(0);
	for await (const chunk of chunks) {
		let bytes = chunk;
		if (decoder === undefined) {
			head = Buffer.concat([head, chunk]);
			// Enough for a mark, and for telling UTF-16 that has none.
			if (head.length < 4) continue;
			({ decoder, bytes } = choose(head, encoding));
		}
		for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield* decoder.push(bytes.subarray(at, at + PIECE_BYTES));
	}
	if (decoder === undefined) {
		const chosen = choose(head, encoding);
		decoder = chosen.decoder;
		yield* decoder.push(chosen.bytes);
	}
	decoder.end();
}

function choose(head: Buffer, encoding: string | undefined): { decoder: Decoder; bytes: Buffer } {
	if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { decoder: utf8(3), bytes: head.subarray(3) };
	if (head[0] === 0xff && head[1] === 0xfe) return { decoder: decoderOf("utf-16le"), bytes: head.subarray(2) };
	if (head[0] === 0xfe && head[1] === 0xff) return { decoder: decoderOf("utf-16be"), bytes: head.subarray(2) };
	if (encoding !== undefined && encoding !== "utf-8") return { decoder: decoderOf(encoding), bytes: head };
	const [a, b, c, d] = head;
	if ((a === 0 && b !== 0 && c === 0 && d !== 0) || (a !== 0 && b === 0 && c !== 0 && d === 0)) {
		throw new ReadingStop("ENCODING", "looks like UTF-16 without a byte-order mark; convert the file to UTF-8");
	}
	return { decoder: utf8(0), bytes: head };
}

function utf8(start: number): Decoder {
	let carry: Buffer = Buffer.alloc(0);
	let offset = start;
	return {
		*push(piece) {
			const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece]);
			const end = bytes.length - openTail(bytes);
			const whole = bytes.subarray(0, end);
			if (!isUtf8(whole)) {
				const good = validPrefix(whole);
				yield whole.toString("utf8", 0, good);
				throw badByte(whole[good] ?? 0, offset + good);
			}
			// The block that holds them is filled anew.
			carry = Buffer.from(bytes.subarray(end));
			offset += end;
			if (end > 0) yield whole.toString("utf8");
		},
		end() {
			if (carry.length > 0) throw badByte(carry[0] ?? 0, offset);
		},
	};
}

function badByte(byte: number, offset: number): ReadingStop {
	const hex = byte.toString(16).padStart(2, "0");
	return new ReadingStop(
		"ENCODING",
		`byte ${offset} (0x${hex}) is not UTF-8; --encoding windows-1252 reads a CSV as Excel saves it, or convert the file to UTF-8`,
	);
}

/** The number of bytes at the end that belong to an incomplete character. */
function openTail(bytes: Buffer): number {
	for (let back = 1; back <= 3 && back <= bytes.length; back++) {
		const byte = bytes[bytes.length - back] ?? 0;
		if (byte < 0x80) return 0;
		if (byte < 0xc0) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
		return length > back ? back : 0;
	}
	return 0;
}

/** The length of the longest start that is UTF-8. Slow, and called once at most. */
function validPrefix(bytes: Buffer): number {
	let at = 0;
	while (at < bytes.length) {
		const byte = bytes[at] ?? 0;
		const end = at + (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);
		if (end > bytes.length || !isUtf8(bytes.subarray(at, end))) break;
		at = end;
	}
	return at;
}
