import { expect, it } from "vitest";
import { caselessName, foldedName } from "../../src/text/names.ts";

it.each([
	["Report.txt", "report.TXT"],
	["résumé.pdf", "Resume.pdf"],
	["re\u0301sume\u0301.pdf", "r\u00e9sum\u00e9.pdf"],
	["a.txt", "a.txt  "],
	["Straße.md", "STRASSE.md"],
	["報告（1）.pdf", "報告(1).pdf"],
	["はは.txt", "パパ.txt"],
	["😀.txt", "🎉.txt"],
	["ﬁle.txt", "FILE.txt"],
	["soft\u00adhyphen.txt", "softhyphen.txt"],
])("%j and %j are one name to a database without case and accents", (one, other) => {
	expect(foldedName(one)).toBe(foldedName(other));
});

it.each([
	["a.txt", "b.txt"],
	["a.txt", " a.txt"],
	["報告.pdf", "報吿.pdf"],
	["a b.txt", "ab.txt"],
	["Ørsted.txt", "Orsted.txt"],
	["a1.txt", "a2.txt"],
	["日本.txt", "日木.txt"],
])("%j and %j are two names", (one, other) => {
	expect(foldedName(one)).not.toBe(foldedName(other));
});

it("a person overlooks case, composition and blanks at the end, and no accent", () => {
	expect(caselessName("Ré.txt ")).toBe(caselessName("re\u0301.TXT"));
	expect(caselessName("re.txt")).not.toBe(caselessName("ré.txt"));
});
