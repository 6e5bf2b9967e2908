import { Stop } from "../fault.ts";
import { excerpt } from "../../text/show.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * The delimiter that a first line such as `sep=;` names, which is written for Excel; undefined where it is another line.
 *
 * @throws Stop where it names one that is not read
 */
export function namedDelimiter(text: string, line: number): string | undefined {
	const named = /^"?sep=(.?)"?\r?$/i.exec(text)?.[1];
	if (named === undefined) return undefined;
	const delimiter = DELIMITERS.find((each) => each === named);
	if (delimiter !== undefined) return delimiter;
	const what = named === "" ? "no character divides" : `${excerpt(named)} divides`;
	throw new Stop("DELIMITER", `the line sep= says that ${what} the cells; use a comma, a semicolon or a tab`, {
		line,
		column: 1,
	});
}

/** Where the header's record ends: the first line feed outside quotes. -1 when it has not come yet. */
export function headerEnd(text: string, start: number): number {
	let quoted = false;
	for (let at = start; at < text.length; at++) {
		const unit = text.charCodeAt(at);
		if (unit === 0x22) quoted = !quoted;
		else if (unit === 0x0a && !quoted) return at;
	}
	return -1;
}

/** The delimiter that a header is divided by: the most frequent one outside quotes, the comma when there is none. */
export function delimiterOf(header: string): string {
	const bare = header.replaceAll(/"[^"]*"?/g, "");
	let best: string = DELIMITERS[0];
	let most = 0;
	for (const delimiter of DELIMITERS) {
		const count = bare.split(delimiter).length - 1;
		if (count > most) [best, most] = [delimiter, count];
	}
	return best;
}
