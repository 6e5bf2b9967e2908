/** `1 row`, `2,000 rows`. */
export const rowsText = counted("row");
export const documentsText = counted("document");
export const runsText = counted("run");

function counted(noun: string): (count: number) => string {
	return (count) => `${numberText(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/**
 * A count with thousands separators, the same on every machine: `12,345`, `0.5`.
 *
 * Not `toLocaleString`: its first call loads the data of all languages, which takes 23 ms.
 */
export function numberText(value: number): string {
	const [whole = "", decimals] = String(value).split(".");
	const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
	return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** A rate a second: `0.5`, `98`. */
export function rateText(rate: number): string {
	return rate < 10 && !Number.isInteger(rate) ? rate.toFixed(1) : numberText(Math.round(rate));
}

/** `0.4 s`, `12.3 s`, `3 min 05 s`, `2 h 04 min`. */
export function durationText(seconds: number): string {
	if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
	return `${Math.floor(whole / 3600)} h ${twoDigits(Math.floor((whole % 3600) / 60))} min`;
}

/** `0 B`, `1.4 kB`, `14 kB`, `1.2 GB`: by thousands, as disks and file managers count. */
export function sizeText(bytes: number): string {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let [value, unit] = [bytes, 0];
	// From 999.5 on it is rounded to 1,000.
	while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
	return `${unit > 0 && value < 9.95 ? value.toFixed(1) : numberText(Math.round(value))} ${units[unit]}`;
}

/** `1.2 GB of 3.4 GB at 24 MB/s`. @param rate bytes a second */
export function movedText(bytes: number, total: number | undefined, rate = 0): string {
	const all = total === undefined ? "" : ` of ${sizeText(total)}`;
	return `${sizeText(bytes)}${all}${rate === 0 ? "" : ` at ${sizeText(rate)}/s`}`;
}

/** Columns of a time as `localTimeText` writes it. */
export const TIME_WIDTH = "2026-11-22 00:24".length;

/** `2026-11-22 00:24` in the zone of this machine. */
export function localTimeText(time: Date): string {
	const day = `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
	return `${day} ${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** `07`: a part of a time. */
export function twoDigits(number: number): string {
	return String(number).padStart(2, "0");
}

/** `a, b or c`. */
export function alternatives(words: readonly string[]): string {
	return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ");
}
