import { excerpt } from "../../text/show.ts";
import { ReadingStop } from "../fault.ts";
import { MAX_CELL } from "../limits.ts";
import { type Archive, readXml, unescaped } from "./archive.ts";

export const WORKBOOK = "xl/workbook.xml";

/** A sheet with cells. */
type Sheet = { readonly name: string; readonly part: string; readonly isHidden: boolean };

export type Workbook = Awaited<ReturnType<typeof readWorkbook>>;

/**
 * What the cells of a workbook share. `kinds` are what the numbers of each style are shown as.
 *
 * @param wanted the name of a sheet, or its number from 1; undefined for the first one that is not hidden
 * @throws Stop
 */
export async function readWorkbook(archive: Archive, wanted: string | undefined) {
	const { sheets, is1904 } = await readSheets(archive, await readTargets(archive));
	const sheet = chosen(sheets, wanted);
	return { sheet, is1904, strings: await readStrings(archive), kinds: await readStyles(archive) };
}

function chosen(sheets: readonly Sheet[], wanted: string | undefined): Sheet {
	const byDefault = sheets.find(({ isHidden }) => !isHidden) ?? sheets[0];
	const found =
		wanted === undefined ? byDefault : (sheets.find(({ name }) => name === wanted) ?? sheets[Number(wanted) - 1]);
	if (found !== undefined) return found;
	const names = sheets.map(({ name }, index) => `${index + 1} ${excerpt(name)}`).join(", ");
	const text = wanted === undefined ? "has no sheet with cells" : `has no sheet ${excerpt(wanted)}; it has ${names}`;
	throw new ReadingStop("NO_SUCH_SHEET", `the workbook ${text}`, { line: 1, column: 1 });
}

async function readSheets(
	archive: Archive,
	targets: ReadonlyMap<string, string>,
): Promise<{ readonly sheets: readonly Sheet[]; readonly is1904: boolean }> {
	const sheets: Sheet[] = [];
	let is1904 = false;
	await readXml(archive, WORKBOOK, {
		open(name, attributes) {
			if (name === "workbookPr") is1904 = isTrue(attributes["date1904"]);
			if (name !== "sheet") return;
			const relation = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? "";
			const part = targets.get(relation);
			// A sheet that is one chart has no cells.
			if (part === undefined || !/worksheets\//.test(part)) return;
			const { name: title = "", state = "visible" } = attributes;
			sheets.push({ name: unescaped(title), part, isHidden: state !== "visible" });
		},
	});
	return { sheets, is1904 };
}

async function readTargets(archive: Archive): Promise<ReadonlyMap<string, string>> {
	const part = "xl/_rels/workbook.xml.rels";
	const targets = new Map<string, string>();
	await readXml(archive, part, {
		open(name, { Id = "", Target = "" }) {
			if (name === "Relationship") targets.set(Id, Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`);
		},
	});
	return targets;
}

async function readStrings(archive: Archive): Promise<readonly string[]> {
	const part = "xl/sharedStrings.xml";
	const strings: string[] = [];
	if (!archive.has(part)) return strings;
	let text = "";
	await readXml(archive, part, {
		open(name) {
			if (name === "si") text = "";
		},
		close(name) {
			if (name === "si") strings.push(unescaped(text));
		},
		text(piece, element) {
			if (element === "t" && text.length <= MAX_CELL) text += piece;
		},
	});
	return strings;
}

async function readStyles(archive: Archive): Promise<readonly NumberKind[]> {
	const part = "xl/styles.xml";
	const kinds: NumberKind[] = [];
	if (!archive.has(part)) return kinds;
	const codes = new Map<number, string>();
	let isOfCells = false;
	await readXml(archive, part, {
		open(name, { numFmtId = "", formatCode = "" }) {
			if (name === "numFmt") codes.set(Number(numFmtId), formatCode);
			if (name === "cellXfs") isOfCells = true;
			if (name === "xf" && isOfCells) kinds.push(kindOf(Number(numFmtId), codes.get(Number(numFmtId))));
		},
		close(name) {
			if (name === "cellXfs") isOfCells = false;
		},
	});
	return kinds;
}

export function isTrue(text: string | undefined): boolean {
	return text === "1" || text === "true";
}

/** How a cell shows a number: as a date, a date with a time, a time, or a number. */
export type NumberKind = "date" | "datetime" | "time" | "number";

/** The formats that have a number instead of a text, as far as they show dates or times. */
const BUILT_IN: readonly (readonly [from: number, to: number, NumberKind])[] = [
	[14, 17, "date"],
	[18, 21, "time"],
	[22, 22, "datetime"],
	[27, 31, "date"],
	[32, 35, "time"],
	[36, 36, "date"],
	[45, 47, "time"],
	[50, 58, "date"],
];

/** @param code the text of a format of the workbook's own; undefined for a built-in one */
function kindOf(id: number, code: string | undefined): NumberKind {
	if (code === undefined) return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? "number";
	// Texts, colours, conditions and languages are no part of the number. The parts after the first ; are for negative ones.
	const bare = code.replaceAll(/"[^"]*"|[\\_*][^]|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "").split(";", 1)[0] ?? "";
	const hasTime = /[hs]/i.test(bare);
	const hasDate = /[yd]/i.test(bare) || (/m/i.test(bare) && !hasTime);
	if (!hasDate) return hasTime ? "time" : "number";
	return hasTime ? "datetime" : "date";
}
