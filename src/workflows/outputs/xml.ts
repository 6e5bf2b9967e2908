/** Characters that XML 1.0 can't hold, not even escaped: most control characters, and halves of pairs. */
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: ReadonlyMap<string, string> = new Map([
	["&", "&amp;"],
	["<", "&lt;"],
	// A text must not contain "]]>".
	[">", "&gt;"],
	['"', "&quot;"],
	// A parser makes blanks of these in attributes, and line feeds of carriage returns everywhere.
	["\t", "&#9;"],
	["\n", "&#10;"],
	["\r", "&#13;"],
]);

/** A text as the content of an element or of an attribute in double quotes. What XML can't hold becomes U+FFFD. */
export function xmlText(text: string): string {
	return text.replaceAll(UNWRITABLE, "\u{FFFD}").replaceAll(/[&<>"\t\n\r]/g, (each) => ESCAPES.get(each) ?? each);
}
