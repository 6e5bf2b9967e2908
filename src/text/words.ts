/** `a, b or c`. */
export function alternatives(words: readonly string[]): string {
	return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ");
}
