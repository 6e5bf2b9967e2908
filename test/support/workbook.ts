import { crc32, deflateRawSync } from "node:zlib";
import { Buffer } from "node:buffer";

/** A zip archive of these parts. */
export function zip(parts: Readonly<Record<string, string | Uint8Array>>): Buffer {
	const files: Buffer[] = [];
	const list: Buffer[] = [];
	let at = 0;
	for (const [name, content] of Object.entries(parts)) {
		const bytes = Buffer.from(content);
		const packed = deflateRawSync(bytes);
		const head = Buffer.alloc(26);
		head.writeUInt16LE(20, 0);
		head.writeUInt16LE(8, 4);
		head.writeUInt32LE(crc32(bytes), 10);
		head.writeUInt32LE(packed.length, 14);
		head.writeUInt32LE(bytes.length, 18);
		head.writeUInt16LE(Buffer.byteLength(name), 22);
		const file = Buffer.concat([Buffer.from("PK\u0003\u0004"), head, Buffer.from(name), packed]);
		const tail = Buffer.alloc(14);
		tail.writeUInt32LE(at, 10);
		list.push(Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\0"), head, tail, Buffer.from(name)]));
		files.push(file);
		at += file.length;
	}
	const directory = Buffer.concat(list);
	const end = Buffer.alloc(22);
	end.write("PK\u0005\u0006");
	end.writeUInt16LE(list.length, 8);
	end.writeUInt16LE(list.length, 10);
	end.writeUInt32LE(directory.length, 12);
	end.writeUInt32LE(at, 16);
	return Buffer.concat([...files, directory, end]);
}

const XML = '<?xml version="1.0" encoding="UTF-8"?>';

type Parts = {
	/** what stands between `<sheetData>` and its end */
	readonly rows: string;
	readonly strings?: readonly string[];
	/** format codes of the styles from 1 on; style 0 is a plain one */
	readonly formats?: readonly string[];
	readonly is1904?: boolean;
	/** further parts, and those that replace others */
	readonly more?: Readonly<Record<string, string | Uint8Array>>;
	readonly sheets?: string;
};

/** A workbook with one sheet, `Tabelle1`, as the parts say. */
export function workbook({ rows, strings = [], formats = [], is1904 = false, more = {}, sheets }: Parts): Buffer {
	const codes = formats.map(
		(code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', "&quot;")}"/>`,
	);
	const styles = ["", ...formats].map((_, at) => `<xf numFmtId="${at === 0 ? 0 : 163 + at}"/>`);
	return zip({
		"[Content_Types].xml": `${XML}<Types/>`,
		"xl/workbook.xml": `${XML}<workbook xmlns:r="r"><workbookPr date1904="${is1904 ? 1 : 0}"/><sheets>${sheets ?? '<sheet name="Tabelle1" sheetId="1" r:id="rId1"/>'}</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `${XML}<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="rId3" Target="chartsheets/sheet1.xml"/></Relationships>`,
		"xl/styles.xml": `${XML}<styleSheet><numFmts>${codes.join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join("")}</cellXfs></styleSheet>`,
		"xl/sharedStrings.xml": `${XML}<sst>${strings.map((text) => `<si>${text}</si>`).join("")}</sst>`,
		"xl/worksheets/sheet1.xml": `${XML}<worksheet><sheetData>${rows}</sheetData></worksheet>`,
		...more,
	});
}

/** A row of cells, each the XML of what stands in `<c>`, or a text. */
export function row(number: number, ...cells: readonly (string | undefined)[]): string {
	const xml = cells.map((cell, at) => {
		if (cell === undefined) return "";
		const reference = `r="${String.fromCharCode(65 + at)}${number}"`;
		if (cell.startsWith("<c")) return cell.replace("<c", `<c ${reference}`);
		return `<c ${reference} t="inlineStr"><is><t>${cell}</t></is></c>`;
	});
	return `<row r="${number}">${xml.join("")}</row>`;
}
