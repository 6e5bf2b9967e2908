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
export function kindOf(id: number, code: string | undefined): NumberKind {
	if (code === undefined) return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? "number";
	// Texts, colours, conditions and languages are no part of the number. The parts after the first ; are for negative ones.
	const bare = code.replaceAll(/"[^"]*"|[\\_*][^]|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "").split(";", 1)[0] ?? "";
	const hasTime = /[hs]/i.test(bare);
	const hasDate = /[yd]/i.test(bare) || (/m/i.test(bare) && !hasTime);
	if (!hasDate) return hasTime ? "time" : "number";
	return hasTime ? "datetime" : "date";
}

/** The first day that all spreadsheets count alike: Excel has a 29th of February 1900. */
const FIRST = 61;
/** 31 December 9999 */
const LAST = 2_958_465;
const DAY = 86_400;
/** Days from the beginning of the 1900 system to that of the 1904 system. */
const BETWEEN_SYSTEMS = 1462;

/** A date or time as ISO text; undefined where the number is none that all spreadsheets read alike. */
export function serialText(serial: number, kind: Exclude<NumberKind, "number">, is1904: boolean): string | undefined {
	if (kind === "time") return serial >= 0 && serial <= LAST ? timeText(Math.round(serial * DAY)) : undefined;
	const days = is1904 ? serial + BETWEEN_SYSTEMS : serial;
	if (serial < 0 || days < FIRST || days >= LAST + 1) return undefined;
	// Serial 25569 is 1 January 1970.
	const seconds = Math.round((days - 25_569) * DAY);
	return new Date(seconds * 1000).toISOString().slice(0, kind === "date" ? 10 : 19);
}

/** Hours may be more than 23: a sum of times is shown so. */
function timeText(seconds: number): string {
	const two = (number: number): string => String(Math.floor(number)).padStart(2, "0");
	return `${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
}
