import { ReadingStop } from "../fault.ts";

/** Turns bytes into text. */
export type Decoder = { push(bytes: Buffer): Generator<string>; end(): void };

/** An encoding by the name that messages and records use; undefined for a name that is none. */
export function encodingOf(label: string): string | undefined {
	try {
		return new TextDecoder(label, { fatal: true }).encoding;
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw error;
	}
}

/** The characters of windows-1252 from 0x80 to 0x9f. U+FFFD stands for a byte that has none. */
const WINDOWS_1252 = "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

/** A decoder that refuses bytes without a meaning. */
export function decoderOf(encoding: string): Decoder {
	return encoding === "windows-1252" ? windows1252() : textDecoder(encoding);
}

/** Node 20 decodes these bytes as Latin-1: a euro sign would become a control character. */
function windows1252(): Decoder {
	let offset = 0;
	return {
		*push(bytes) {
			const latin1 = bytes.toString("latin1");
			const text = latin1.replaceAll(/[\u0080-\u009f]/g, (unit) => WINDOWS_1252.charAt(unit.charCodeAt(0) - 0x80));
			const odd = text.indexOf("\ufffd");
			if (odd !== -1) {
				yield text.slice(0, odd);
				throw undecodable("windows-1252", `byte ${offset + odd} (0x${bytes[odd]?.toString(16)})`);
			}
			offset += bytes.length;
			yield text;
		},
		end: () => undefined,
	};
}

function textDecoder(encoding: string): Decoder {
	const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
	let offset = 0;
	return {
		*push(bytes) {
			const text = decoded(() => decoder.decode(bytes, { stream: true }));
			if (text === undefined) {
				const lossy = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
				yield lossy.slice(0, lossy.indexOf("\ufffd"));
				throw undecodable(encoding, `a byte between ${offset} and ${offset + bytes.length}`);
			}
			offset += bytes.length;
			if (text !== "") yield text;
		},
		end() {
			if (decoded(() => decoder.decode()) === undefined) throw undecodable(encoding, "the last character");
		},
	};
}

/** The text; undefined where the bytes are of another encoding. */
function decoded(decode: () => string): string | undefined {
	try {
		return decode();
	} catch (error) {
		if (error instanceof TypeError) return undefined;
		throw error;
	}
}

function undecodable(encoding: string, where: string): ReadingStop {
	return new ReadingStop("ENCODING", `${where} is not ${encoding}; name the encoding of the file with --encoding`);
}
