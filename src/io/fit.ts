import type { WidthOf } from "../text/cut.ts";

/** A part of a line. Where there is no room for all, the part with the highest number is left out first. */
export type Part = { readonly text: string; readonly rank: number };

/** Parts as one line. A part that belongs to the one before it begins with a blank or a colon. */
export function joined(parts: readonly Part[]): string {
	// The cause stands with its state: `waiting 9s of 14s: the service asked for it (429)`.
	return parts.map(({ text }, index) => (index === 0 || /^:? /.test(text) ? text : `  ${text}`)).join("");
}

/** As many parts as fit, as one line. The first one stays, and may be too long. */
export function fitted(parts: readonly Part[], width: number, widthOf: WidthOf): string {
	let kept = parts;
	while (kept.length > 1 && widthOf(joined(kept)) > width) {
		const worst = Math.max(...kept.slice(1).map(({ rank }) => rank));
		kept = kept.filter(({ rank }, index) => index === 0 || rank !== worst);
	}
	return joined(kept);
}
