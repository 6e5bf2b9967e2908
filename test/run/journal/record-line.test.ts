import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OUTCOMES } from "../../../src/outcomes.ts";
import type { JsonValue } from "../../../src/json/values.ts";
import { countedOf, encode, entryOf, MAX_LINE_BYTES, namesIn, recordOf } from "../../../src/run/journal/record-line.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { end, header, outcome, sent, stored } from "./support.ts";

const counts = new JournalState().totals();
const EACH: readonly JournalRecord[] = [
	header(),
	header({ earlierMilliseconds: 61_500 }),
	header({ manifest: { ...header().manifest, path: null } }),
	...OUTCOMES.map((status, row) => outcome(row, status)),
	{ ...outcome(9, "uploaded"), documentId: "", storedName: "a(1).txt" },
	{ kind: "end", counts, exitCode: 130, time: "t" },
	{ kind: "reopen", time: "t" },
	{ kind: "reopen", time: "t", codes: ["CODE_102", "NOT_FOUND"] },
	{ kind: "lost", records: 4, time: "t" },
	sent(7),
	sent(8, { before: new Map(), time: 1_764_000_000_000 }),
	sent(9, { before: new Map([["a", [1, { b: null }]]]) }),
	{ ...outcome(10), status: "updated", error: undefined, isSame: true },
	{ ...outcome(11), status: "failed", error: { code: "NOT_FOUND", text: "" }, isUntouched: true },
	{ kind: "sent", row: 3, line: 5, datasetId: "set", documentId: "doc-3", write: "remove", time: 1 },
	sent(4, { documentId: "", write: "upload", fileName: "ä\r\n.txt", size: 0, namesakes: ["x", "y"] }),
	stored(4, "new", "ä(1).txt"),
	{ ...outcome(5), datasetId: 'a "set"\\', documentId: '\u2028\n" \\' },
];

/** A line with a right checksum and this body. */
function line(body: string): string {
	return `${crc32(body).toString(16).padStart(8, "0")} ${body}`;
}

function written(record: JournalRecord): string {
	return encode(record).slice(0, -1);
}

function decode(text: string): unknown {
	const entry = entryOf(Buffer.from(text));
	return entry && recordOf(entry);
}

describe("a record", () => {
	it.each(EACH)("reads back as it was written, or a resume would do something else: $kind", (record) => {
		expect(encode(record).indexOf("\n")).toBe(encode(record).length - 1);
		expect(decode(written(record))).toEqual(record);
	});

	it.each(EACH)("has the facts that counts need before its JSON text: $kind", (record) => {
		const entry = entryOf(Buffer.from(written(record)));
		if (entry === undefined) throw new Error("it is a record");
		const states = [countedOf(entry), record].map((each) => {
			const state = new JournalState();
			for (const one of [header(), sent(4), { kind: "lost", records: 1, time: "t" } as const]) state.apply(one);
			if (each !== undefined) state.apply(each);
			return [state.totals(), state.noOpUpdates, state.countWithoutBeforeImage(), state.countInDoubt()];
		});
		expect(states[0]).toEqual(states[1]);
		const { datasetId, documentId } = Object.assign({ datasetId: "", documentId: "" }, record);
		expect(namesIn(entry)).toMatchObject({ datasetId, documentId });
	});

	it("is the documented line, or scripts could not read it", () => {
		const record = { ...outcome(7, "failed", 2), status: "failed", error: { code: "CODE_102", text: "no" } } as const;
		expect(written(record)).toBe(line('of 7 9 2 "" "doc-7" {"error":{"code":"CODE_102","text":"no"}}'));
		const metadata = '"metadata":{"author":"Ann 1"}';
		expect(written(sent(1))).toBe(line(`sb 1 3 0 "set" "doc-1" {"time":1764000000000,${metadata}}`));
		expect(written({ kind: "reopen", time: "t" })).toBe(line('re 0 0 0 "" "" {"time":"t"}'));
	});

	it("keeps metadata of any key and value, or an undo would write something else", () => {
		const key = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "constructor", "toString", "é"));
		fc.assert(
			fc.property(fc.array(fc.tuple(key, fc.jsonValue({ maxDepth: 2 })), { maxLength: 6 }), (members) => {
				// JSON has no minus zero.
				const plain = JSON.parse(JSON.stringify(members)) as [string, JsonValue][];
				const metadata = new Map(plain);
				const read = decode(written(sent(1, { metadata, before: metadata })));
				expect(read).toEqual(sent(1, { metadata, before: metadata }));
			}),
		);
	});

	it("that is too long to be read back is refused before anything is sent", () => {
		const metadata = new Map([["text", "x".repeat(MAX_LINE_BYTES)]]);
		expect(() => encode(sent(1, { metadata }))).toThrow(RangeError);
	});

	it.each([
		["another checksum", written(outcome(7)).replace(" 7 ", " 8 ")],
		["a checksum in capitals", line('re 0 0 0 "" "" {"time":"4"}').replace(/^[0-9a-f]{8}/, (hex) => hex.toUpperCase())],
		["no checksum", 're 0 0 0 "" "" {"time":"t"}'],
		["nothing", ""],
		["its line end", encode(outcome(7))],
		["CR", `${written(outcome(7))}\r`],
		["no JSON", line('re 0 0 0 "" "" {"time":}')],
		["something after it", line('re 0 0 0 "" "" {"time":"t"}{}')],
		["an unknown code", line('zz 0 0 0 "" "" {"time":"t"}')],
		["a negative row", line('on -1 9 1 "" "" {}')],
		["half a row", line('on 0.5 9 1 "" "" {}')],
		["a row beyond exact numbers", line('on 9007199254740993 9 1 "" "" {}')],
		["two numbers", line('on 0 9 "" "" {}')],
		["a name that has no end", line('on 0 9 1 "" "a')],
		["a failure without a code", line('of 0 2 1 "" "" {}')],
		["a success with a code", line('on 0 2 1 "" "" {"error":{"code":"X","text":"y"}}')],
		["a before-image that is a list", line('su 0 2 0 "set" "d" {"time":1,"before":[]}')],
		["no before-image where its code says so", line('su 0 2 0 "set" "d" {"time":1}')],
		["a time that is text", line('sb 0 2 0 "set" "d" {"time":"now"}')],
		["metadata that is a list", line('sb 0 2 0 "set" "d" {"time":1,"metadata":[]}')],
		["namesakes that are no texts", line('sp 0 2 0 "set" "" {"time":1,"namesakes":[1]}')],
		["a count that is missing", line('en 0 0 0 "" "" {"counts":{"rows":1},"exitCode":0,"time":"t"}')],
		["codes that are no list", line('re 0 0 0 "" "" {"time":"t","codes":"X"}')],
		["more left out than there is", written(header({ manifest: { ...header().manifest, rows: 4 } }))],
	])("with %s is refused, or a wrong count would be reported", (_, text) => {
		expect(decode(text)).toBeUndefined();
	});

	it("of another format is not taken for damage, or a newer run would be cut", () => {
		expect(decode(line('he 0 0 0 "" "" {"version":3,"something":"else"}'))).toEqual({
			kind: "other format",
			version: 3,
		});
	});

	it("may have members that a later version adds", () => {
		expect(decode(line('re 0 0 0 "" "" {"time":"t","more":[1]}'))).toMatchObject({ kind: "reopen", time: "t" });
	});

	it("that ends an execution has the counts of its state", () => {
		const state = new JournalState();
		state.apply(header());
		expect(state.apply(end(state))).toBeUndefined();
		expect(state.end?.exitCode).toBe(0);
	});
});
