import stringWidth from "string-width";
import { cutToWidth } from "../text/show.ts";

/** The width of a text on a terminal, in columns: wide characters (CJK, emoji) take two, combining marks none. */
export function displayWidth(text: string): number {
	return stringWidth(text);
}

/** A text cut to a width in columns, with an ellipsis where something is left out. */
export function withEllipsis(text: string, width: number, ellipsis: string): string {
	if (displayWidth(text) <= width) return text;
	return `${cutToWidth(text, width - displayWidth(ellipsis), displayWidth)}${ellipsis}`;
}
