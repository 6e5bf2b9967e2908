import { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { errorCode } from "../../errors.ts";
import { Stop } from "../fault.ts";
import { MAX_RATIO, MAX_UNPACKED } from "../limits.ts";

/** Packed forms that are not read, by their first bytes. */
const OTHERS: readonly (readonly [name: string, magic: readonly number[]])[] = [
	["zip", [0x50, 0x4b, 0x03, 0x04]],
	["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
	["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
	["bzip2", [0x42, 0x5a, 0x68]],
];

/**
 * The bytes of a manifest without the gzip around them, if there is one; told by its first bytes, not by its name.
 *
 * @throws Stop where the gzip is broken off, damaged or a bomb, or where the bytes are packed otherwise
 */
export async function* unpack(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	const source = blocks[Symbol.asyncIterator]();
	try {
		const first = await source.next();
		if (first.done === true) return;
		const other = OTHERS.find(([, magic]) => magic.every((byte, index) => first.value[index] === byte));
		if (other !== undefined) {
			throw new Stop("PACKED", `the file is packed with ${other[0]}; unpack it, or pack it with gzip`);
		}
		const all = chain(first.value, source);
		if (first.value[0] === 0x1f && first.value[1] === 0x8b) yield* gunzip(all);
		else yield* all;
	} finally {
		await source.return?.();
	}
}

async function* chain(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
	yield first;
	for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* gunzip(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	let packed = 0;
	let unpacked = 0;
	async function* counted(): AsyncGenerator<Buffer> {
		for await (const block of blocks) {
			packed += block.length;
			yield block;
		}
	}
	const stream = createGunzip({ chunkSize: 64 * 1024 });
	// The pipeline hands errors of the source to the gunzip, which is what is read here.
	pipeline(Readable.from(counted()), stream, () => undefined);
	try {
		for await (const chunk of stream) {
			if (!Buffer.isBuffer(chunk)) continue;
			unpacked += chunk.length;
			if (unpacked > MAX_UNPACKED && unpacked > packed * MAX_RATIO) {
				throw new Stop("GZIP_BOMB", `the gzip unpacks to more than ${MAX_RATIO} times its size; unpack it first`);
			}
			yield chunk;
		}
	} catch (error) {
		const code = errorCode(error);
		if (code === "Z_BUF_ERROR") throw new Stop("GZIP_TRUNCATED", "the gzip is broken off; the file is not whole");
		// The first member began as gzip does, or it would not be read here: what is no gzip comes behind it.
		if (error instanceof Error && error.message === "incorrect header check") throw trailing();
		if (code?.startsWith("Z_") === true) throw new Stop("GZIP_DAMAGED", "the gzip is damaged");
		throw error;
	}
	// Node ignores what follows the last member: rows that got there by mistake would be lost without a word.
	if (stream.bytesWritten < packed) throw trailing();
}

function trailing(): Stop {
	return new Stop("GZIP_TRAILING", "bytes that are no gzip follow the end of the gzip data; pack the file again");
}
