/** Where the string that opens at `start` ends, past its quote; beyond the text when it does not. */
export function stringEnd(text: string, start: number): number {
	let at = text.indexOf('"', start + 1);
	while (at !== -1) {
		let slashes = 0;
		while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
		if (slashes % 2 === 0) return at + 1;
		at = text.indexOf('"', at + 1);
	}
	return text.length + 1;
}
