import { characters, lineFeeds } from "../position.ts";

/** Line and column of a place that moves forward through text, both from 1. */
export class Cursor {
	line = 1;
	column = 1;

	advance(text: string, from: number, to: number): void {
		if (from === to) return;
		const feeds = lineFeeds(text, from, to);
		if (feeds === 0) this.column += characters(text.slice(from, to));
		else {
			this.line += feeds;
			this.column = 1 + characters(text.slice(text.lastIndexOf("\n", to - 1) + 1, to));
		}
	}
}
