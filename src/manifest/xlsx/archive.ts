import { StringDecoder } from "node:string_decoder";
import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise } from "yauzl";
import { ReadingStop } from "../fault.ts";
import { MAX_RATIO, MAX_TEXTS, MAX_UNPACKED, MAX_WORKBOOK } from "../limits.ts";
import { parser, type SAXParser } from "sax";

/** The parts of a workbook, each a text. */
export type Archive = Awaited<ReturnType<typeof openArchive>>;

/** All bytes of a workbook: its list of parts stands at its end. @throws Stop where they are too many */
export async function gather(blocks: AsyncIterable<Buffer>): Promise<Buffer> {
	const parts: Buffer[] = [];
	let size = 0;
	for await (const block of blocks) {
		size += block.length;
		if (size > MAX_WORKBOOK) throw stop("TOO_LONG", `a workbook of more than ${MAX_WORKBOOK} bytes; save it as CSV`);
		// The memory of a block is used again.
		parts.push(Buffer.from(block));
	}
	return Buffer.concat(parts);
}

/** @throws Stop where the file is not whole */
export async function openArchive(bytes: Buffer) {
	const zip = await fromBufferPromise(bytes).catch((error: unknown) => Promise.reject(damaged(error)));
	const entries = new Map<string, Entry>();
	try {
		for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
	} catch (error) {
		throw damaged(error);
	}
	/** The text of a part, which is unpacked while it is read. @throws Stop where it is not there, damaged, or a bomb */
	async function* read(part: string): AsyncGenerator<string> {
		const entry = entries.get(part);
		if (entry === undefined) throw stop("BAD_WORKBOOK", `the workbook has no part ${part}; save it again`);
		if (entry.isEncrypted()) throw stop("PASSWORD", "the file has a password; save it without one");
		const { uncompressedSize, compressedSize } = entry;
		if (uncompressedSize > MAX_UNPACKED && uncompressedSize > compressedSize * MAX_RATIO) {
			throw stop("ZIP_BOMB", `${part} unpacks to more than ${MAX_RATIO} times its size; save the sheet as CSV`);
		}
		try {
			// It ends with an error where the part is longer than the archive says.
			const decoder = new StringDecoder("utf8");
			let sum = 0;
			for await (const chunk of await zip.openReadStreamPromise(entry)) {
				if (!Buffer.isBuffer(chunk)) continue;
				sum = crc32(chunk, sum);
				yield decoder.write(chunk);
			}
			if (sum !== entry.crc32) throw new Error("another checksum");
		} catch (error) {
			throw damaged(error);
		}
	}
	return {
		read,
		has: (part: string) => entries.has(part),
		/** Bytes of a part, as the archive says. */
		size: (part: string) => entries.get(part)?.uncompressedSize ?? 0,
	};
}

function damaged(error: unknown): ReadingStop {
	const why = error instanceof Error ? error.message : String(error);
	const isCut = /end of central directory|unexpected end|truncated/i.test(why);
	if (isCut) return stop("ZIP_TRUNCATED", "the workbook is broken off; the file is not whole");
	return stop("BAD_WORKBOOK", "the workbook is damaged; open it in a spreadsheet, and save it again");
}

function stop(code: string, text: string): ReadingStop {
	return new ReadingStop(code, text, { line: 1, column: 1 });
}

/** What happens at the elements of a part. Names have no prefix. */
type Elements = {
	open(name: string, attributes: Readonly<Record<string, string>>): void;
	close?(name: string): void;
	/** called with each piece of text that directly follows the beginning of an element. It leaves out how a word is read aloud */
	text?(text: string, element: string): void;
};

/**
 * A parser of XML that is given in pieces. Entities of a document type are not read. It throws a stop where the text is no XML,
 * and at `close` where it is not whole.
 */
export function xmlParser(part: string, elements: Elements): Pick<SAXParser, "write" | "close"> {
	const strict = parser(true, { position: false });
	strict.onerror = () => {
		throw new ReadingStop("BAD_WORKBOOK", `${part} is damaged; open the workbook in a spreadsheet, and save it again`);
	};
	let element = "";
	let isReading = false;
	strict.onopentag = (tag) => {
		element = withoutPrefix(tag.name);
		if (element === "rPh") isReading = true;
		// Without namespaces, which are off, each attribute is a text.
		if (!("ns" in tag)) elements.open(element, tag.attributes);
	};
	strict.onclosetag = (name) => {
		element = "";
		if (withoutPrefix(name) === "rPh") isReading = false;
		elements.close?.(withoutPrefix(name));
	};
	strict.ontext = strict.oncdata = (text) => {
		if (!isReading) elements.text?.(text, element);
	};
	return strict;
}

/** Reads a whole part of which memory keeps much. @throws Stop, also where it is too long */
export async function readXml(archive: Archive, part: string, elements: Elements): Promise<void> {
	if (archive.size(part) > MAX_TEXTS) {
		throw stop("TOO_LONG", `${part} has more than ${MAX_TEXTS} bytes; save the sheet as CSV`);
	}
	const xml = xmlParser(part, elements);
	for await (const text of archive.read(part)) xml.write(text);
	xml.close();
}

function withoutPrefix(name: string): string {
	return name.includes(":") ? name.slice(name.indexOf(":") + 1) : name;
}

/** `_x000D_` stands for a character that XML can't hold. */
export function unescaped(text: string): string {
	if (!text.includes("_x")) return text;
	return text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
