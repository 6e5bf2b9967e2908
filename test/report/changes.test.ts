import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import { differenceOf } from "../../src/plan/change.ts";
import { changeWriter } from "../../src/report/changes.ts";
import { ChangeTally, type ShownChange } from "../../src/report/change-tally.ts";
import { range } from "../support/values.ts";

type Values = { readonly [key: string]: JsonValue };

const changed = (present: Values, sent: Values, action: ShownChange["action"] = "update"): ShownChange => ({
	action,
	line: 7,
	datasetId: "set",
	documentId: "doc",
	difference: differenceOf(new Map(Object.entries(present)), new Map(Object.entries(sent))),
});

const same = (text: string): string => text;
const marks = { bold: same, dim: same, red: same, green: same, yellow: same };
const changeText = (change: ShownChange, longest = 200): string =>
	changeWriter("text", { marks, longest }).change(change) ?? "";
const changeLine = (change: ShownChange): string => changeWriter("json", { marks, longest: 200 }).change(change) ?? "";
/** Without the head, which comes before the first change. */
const changeCsv = (change: ShownChange): string => {
	const head = "line,document_id,key,action,from,to,name\n";
	const text = changeWriter("csv", { marks, longest: 200 }).change(change) ?? "";
	expect(text.startsWith(head)).toBe(true);
	return text.slice(head.length);
};

describe("a change for scripts", () => {
	it("has exactly the promised members, keys in their order, and no special key", () => {
		// Numbers would come first in an object.
		const present = new Map<string, JsonValue>([
			["b", 1],
			["10", "x"],
			["gone", [1]],
		]);
		const sent = new Map<string, JsonValue>([
			["b", { c: null }],
			["10", "x"],
			["__proto__", "data"],
			["2", true],
		]);
		const change = { ...changed({}, {}), difference: differenceOf(present, sent) };
		expect(changeLine(change)).toBe(
			'{"type":"change","action":"update","line":7,"dataset_id":"set","document_id":"doc",' +
				'"add":{"__proto__":"data","2":true},"change":{"b":{"from":1,"to":{"c":null}}},"remove":{"gone":[1]}}\n',
		);
		expect(JSON.parse(changeLine(changed({}, {})))).toMatchObject({ add: {}, change: {}, remove: {} });
	});
});

describe("a change for people", () => {
	it("is one line for the document and one for each key, distinct without colour", () => {
		const change = changed({ pages: 5, owner: "Ann" }, { pages: "5", team: "legal" });
		expect(changeText(change)).toBe('doc line 7\n  + team: "legal"\n  ~ pages: 5 → "5"\n  - owner: "Ann"\n');
	});

	it("can't control a terminal, and is cut to be readable there", () => {
		const text = changeText(changed({}, { ["a\u001b[2J"]: `x\u202e${"y".repeat(500)}` }), 40);
		expect(text).not.toContain("\u001b");
		expect(text).not.toContain("\u202e");
		expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(100);
	});
});

describe("a change for a spreadsheet", () => {
	it("is a line a key, and no cell is run as a formula", () => {
		const change = changed({ a: "=1+1" }, { a: "@SUM(1)", "-b": 'say "x", y' });
		expect(changeCsv(change)).toBe('7,doc,\'-b,add,,"say ""x"", y",\n7,doc,a,change,\'=1+1,\'@SUM(1),\n');
	});

	it("distinguishes a number from the text of the same digits", () => {
		expect(changeCsv(changed({ a: 5 }, { a: "5" }))).toBe('7,doc,a,change,5,"""5""",\n');
		expect(changeCsv(changed({ a: [1] }, {}))).toBe("7,doc,a,remove,[1],,\n");
	});
});

describe("a document whose name is known is shown by it, with the id that the next command takes", () => {
	const named: ShownChange = { ...changed({}, { a: 1 }), name: "re\u001bport.pdf" };

	it("in each format", () => {
		expect(changeText(named)).toBe("re\\x1bport.pdf (doc) line 7\n  + a: 1\n");
		expect(changeCsv({ ...named, name: "=a,b" })).toBe('7,doc,a,add,,1,"\'=a,b"\n');
		expect(changeLine(named)).toContain('"document_id":"doc","name":"re\\u001bport.pdf","add"');
	});
});

describe("an upload and a removal are shown as such, not as updates", () => {
	const upload: ShownChange = { ...changed({}, { a: 1 }, "upload"), documentId: "", file: "/x/a|b.md" };
	const removal = changed({ a: 1 }, {}, "remove");
	const bare = changed({}, {}, "remove");

	it("by scripts", () => {
		expect(changeLine(upload)).toBe(
			'{"type":"change","action":"upload","line":7,"dataset_id":"set","document_id":"","file":"/x/a|b.md",' +
				'"add":{"a":1},"change":{},"remove":{}}\n',
		);
		expect(changeLine(removal)).toBe(
			'{"type":"change","action":"remove","line":7,"dataset_id":"set","document_id":"doc",' +
				'"add":{},"change":{},"remove":{"a":1}}\n',
		);
	});

	it("by people", () => {
		expect(changeText(upload)).toBe("/x/a|b.md line 7  would be uploaded\n  + a: 1\n");
		expect(changeText(removal)).toBe("doc line 7  would be removed\n  - a: 1\n");
	});

	it("in a sheet, also where it has no key", () => {
		expect(changeCsv(upload)).toBe("7,,,upload document,,/x/a|b.md,\n7,,a,add,,1,\n");
		expect(changeCsv(removal)).toBe("7,doc,,remove document,,,\n7,doc,a,remove,1,,\n");
		expect(changeCsv(bare)).toBe("7,doc,,remove document,,,\n");
	});
});

describe("the totals of a dry run", () => {
	const of = (...changes: readonly ShownChange[]): ChangeTally => {
		const tally = new ChangeTally();
		for (const change of changes) tally.add(change);
		return tally;
	};

	it("count documents and keys, and name the keys that would be lost, those of most documents first", () => {
		const both = changed({ a: 1, b: 1 }, { c: 1 });
		const tally = of(both, changed({ b: 1 }, {}), changed({ c: 1 }, { c: 2 }));
		expect(tally.documents).toBe(3);
		expect(tally.text()).toBe("3 documents would change; keys: 1 added, 1 changed, 3 removed.");
		expect(tally.removedText()).toBe("Keys that would be removed: b (2 documents), a (1 document).");
	});

	it("distinguish created and removed documents from changed ones, whose keys alone are counted", () => {
		const a = { a: 1 };
		const tally = of(changed({}, a, "upload"), changed(a, {}, "remove"), changed(a, {}, "remove"));
		expect([tally.documents, tally.text(), tally.removedText()]).toEqual([
			3,
			"1 document would be uploaded. 2 documents would be removed.",
			undefined,
		]);
		tally.add(changed({}, a));
		expect(tally.text()).toContain(" would be removed. 1 document would change; keys: 1 added.");
	});

	it("report that nothing would change, and name a limited number of keys", () => {
		expect([of().text(), of().removedText()]).toEqual(["No document would change.", undefined]);
		const many = changed(Object.fromEntries(range(25).map((n) => [`k${n}`, n])), {});
		expect(of(many).removedText()).toContain("k9 (1 document), and 15 more.");
	});
});
