import { parser, type QualifiedAttribute, type SAXParser } from "sax";
import { ReadingStop } from "../fault.ts";

/** What happens at the elements of a part. Names have no prefix. */
type Elements = {
	open(name: string, attributes: Readonly<Record<string, string>>): void;
	close?(name: string): void;
	/** called with each piece of text between tags */
	text?(text: string): void;
};

/** A parser of XML that is given in pieces. Entities of a document type are not read. */
export class Xml {
	readonly #parser: SAXParser;

	constructor(part: string, elements: Elements) {
		const strict = parser(true, { position: false });
		strict.onerror = () => {
			throw new ReadingStop(
				"BAD_WORKBOOK",
				`${part} is damaged; open the workbook in a spreadsheet, and save it again`,
			);
		};
		strict.onopentag = ({ name, attributes }) => elements.open(withoutPrefix(name), texts(attributes));
		strict.onclosetag = (name) => elements.close?.(withoutPrefix(name));
		strict.ontext = (text) => elements.text?.(text);
		strict.oncdata = (text) => elements.text?.(text);
		this.#parser = strict;
	}

	/** @throws Stop where it is no XML */
	write(text: string): void {
		this.#parser.write(text);
	}

	/** @throws Stop where it is not whole */
	end(): void {
		this.#parser.close();
	}
}

/** Reads a whole part. @throws Stop */
export async function readXml(part: string, texts: AsyncIterable<string>, elements: Elements): Promise<void> {
	const xml = new Xml(part, elements);
	for await (const text of texts) xml.write(text);
	xml.end();
}

type Attributes = Readonly<Record<string, string | QualifiedAttribute>>;

/** Without namespaces, which are off, each attribute is a text. */
function texts(attributes: Attributes): Readonly<Record<string, string>> {
	return isTexts(attributes) ? attributes : {};
}

function isTexts(attributes: Attributes): attributes is Readonly<Record<string, string>> {
	for (const name in attributes) return typeof attributes[name] === "string";
	return true;
}

function withoutPrefix(name: string): string {
	return name.includes(":") ? name.slice(name.indexOf(":") + 1) : name;
}

/** `_x000D_` stands for a character that XML can't hold. */
export function unescaped(text: string): string {
	if (!text.includes("_x")) return text;
	return text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
