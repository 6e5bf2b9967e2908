import { isUtf8 } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
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
	const decoder = new StringDecoder("utf8");
	/** the bytes of a character whose others have not come */
	let carry: Buffer = Buffer.alloc(0);
	let offset = start;
	return {
		*push(piece) {
			const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece]);
			const text = decoder.write(piece);
			// Its bytes are those that were given, unless the decoder has replaced some.
			const size = Buffer.byteLength(text);
			if (!isUtf8(bytes.subarray(0, size))) {
				const sizeTo = (end: number): number => Buffer.byteLength(text.slice(0, end));
				let odd = text.indexOf("\ufffd");
				while (isUtf8(bytes.subarray(0, sizeTo(odd + 1)))) odd = text.indexOf("\ufffd", odd + 1);
				const good = sizeTo(odd);
				yield text.slice(0, odd);
				throw badByte(bytes[good] ?? 0, offset + good);
			}
			// The block that holds them is filled anew.
			carry = Buffer.from(bytes.subarray(size));
			offset += size;
			if (size > 0) yield text;
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
