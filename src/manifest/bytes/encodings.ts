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

/** The characters of windows-1252 from 0x80 to 0x9f. A blank stands for a byte that has none. */
const WINDOWS_1252 = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/** A decoder that refuses bytes without a meaning. */
export function decoderOf(encoding: string): Decoder {
	return encoding === "windows-1252" ? windows1252() : textDecoder(encoding);
}

/** Node 20 decodes these bytes as Latin-1: a euro sign would become a control character. */
function windows1252(): Decoder {
	let offset = 0;
	return {
		*push(bytes) {
			const text = bytes.toString("latin1");
			let from = 0;
			let decoded = "";
			for (const { index, 0: character } of text.matchAll(/[\u0080-\u009f]/g)) {
				const meant = WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80);
				decoded += text.slice(from, index);
				from = index + 1;
				if (meant !== " ") decoded += meant;
				else {
					yield decoded;
					throw undecodable("windows-1252", `byte ${offset + index} (0x${character.charCodeAt(0).toString(16)})`);
				}
			}
			offset += bytes.length;
			yield decoded + text.slice(from);
		},
		end: () => undefined,
	};
}

function textDecoder(encoding: string): Decoder {
	const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
	let offset = 0;
	const decode = (bytes: Buffer, stream: boolean): string => {
		try {
			return decoder.decode(bytes, { stream });
		} catch (error) {
			if (!(error instanceof TypeError)) throw error;
			throw undecodable(encoding, `a byte between ${offset} and ${offset + bytes.length}`);
		}
	};
	return {
		*push(bytes) {
			const text = decode(bytes, true);
			offset += bytes.length;
			if (text !== "") yield text;
		},
		end() {
			decode(Buffer.alloc(0), false);
		},
	};
}

function undecodable(encoding: string, where: string): ReadingStop {
	return new ReadingStop("ENCODING", `${where} is not ${encoding}; name the encoding of the file with --encoding`);
}
