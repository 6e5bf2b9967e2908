import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { errorCode } from "../../errors.ts";
import { ReadingStop } from "../fault.ts";
import { MAX_RATIO, MAX_UNPACKED } from "../limits.ts";

/** The first block of some bytes, and all of them. Where they are not read on, `end` lets go of their source. */
export async function beginning(blocks: AsyncIterable<Buffer>) {
	const source: AsyncIterator<Buffer, unknown> = blocks[Symbol.asyncIterator]();
	const end = async (): Promise<unknown> => source.return?.();
	const begun = await source.next();
	const first = begun.done === true ? undefined : begun.value;
	async function* all(): AsyncGenerator<Buffer> {
		try {
			if (first !== undefined) yield first;
			yield* { [Symbol.asyncIterator]: () => source };
		} finally {
			await end();
		}
	}
	return { first, all: all(), end };
}

/**
 * The bytes of a manifest, unpacked if they are gzip. The first bytes decide, not the name of the file.
 *
 * @throws Stop if the gzip is cut, damaged or a bomb
 */
export async function* unpack(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	const { first, all } = await beginning(blocks);
	yield* first?.[0] === 0x1f && first[1] === 0x8b ? gunzip(all) : all;
}

async function* gunzip(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	let packed = 0;
	let unpacked = 0;
	async function* counted(): AsyncGenerator<Buffer> {
		for await (const block of blocks) {
			packed += block.length;
			// The stream reads ahead, and the block is filled anew.
			yield Buffer.from(block);
		}
	}
	const stream = createGunzip({ chunkSize: 64 * 1024 });
	// The pipeline passes errors of the source to the gunzip, which is read here.
	pipeline(Readable.from(counted()), stream, () => undefined);
	try {
		for await (const chunk of stream) {
			if (!Buffer.isBuffer(chunk)) continue;
			unpacked += chunk.length;
			if (unpacked > MAX_UNPACKED && unpacked > packed * MAX_RATIO) {
				throw new ReadingStop(
					"GZIP_BOMB",
					`the gzip unpacks to more than ${MAX_RATIO} times its size; unpack it first`,
				);
			}
			yield chunk;
		}
	} catch (error) {
		const code = errorCode(error);
		if (code === "Z_BUF_ERROR")
			throw new ReadingStop("GZIP_TRUNCATED", "the gzip is broken off; the file is not whole");
		// The first member began as gzip does, or it would not be read here. So the bytes that are no gzip follow it.
		if (error instanceof Error && error.message === "incorrect header check") throw trailing();
		if (code?.startsWith("Z_") === true) throw new ReadingStop("GZIP_DAMAGED", "the gzip is damaged");
		throw error;
	}
	// Node ignores bytes after the last member: rows that got there by mistake would be lost silently.
	if (stream.bytesWritten < packed) throw trailing();
}

function trailing(): ReadingStop {
	return new ReadingStop(
		"GZIP_TRAILING",
		"bytes that are no gzip follow the end of the gzip data; pack the file again",
	);
}
