/** `1 row`, `2,000 rows`. */
export function rowsText(rows: number): string {
	return `${numberText(rows)} ${rows === 1 ? "row" : "rows"}`;
}

/** `1 document`, `2,000 documents`. */
export function documentsText(documents: number): string {
	return `${numberText(documents)} ${documents === 1 ? "document" : "documents"}`;
}

/** A count with thousands separators, the same on every machine. */
export function numberText(value: number): string {
	return value.toLocaleString("en-US");
}

/** `0.4 s`, `12.3 s`, `3 min 05 s`, `2 h 04 min`. */
export function durationText(seconds: number): string {
	if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
	return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** `a, b or c`. */
export function alternatives(words: readonly string[]): string {
	return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ");
}
