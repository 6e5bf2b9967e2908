import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonValue, metadataText } from "../../../src/json/values.ts";
import { decode } from "../../../src/run/journal/decode.ts";
import { checksum, encode, MAX_LINE_BYTES } from "../../../src/run/journal/encode.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { end, header, outcome, sent } from "./support.ts";

const counts = new JournalState().totals();
const EACH: readonly JournalRecord[] = [
	header(),
	header({ earlierMilliseconds: 61_500 }),
	header({ manifest: { ...header().manifest, path: null } }),
	outcome(7),
	outcome(8, "failed"),
	{ ...outcome(9, "uploaded"), documentId: "", storedName: "a(1).txt" },
	{ kind: "end", counts, exitCode: 130, time: "t" },
	{ kind: "reopen", time: "t" },
	{ kind: "reopen", time: "t", codes: ["CODE_102", "NOT_FOUND"] },
	{ kind: "lost", records: 4, time: "t" },
	sent(7),
	sent(8, { before: new Map(), time: 1_764_000_000_000 }),
	sent(9, { before: new Map([["a", [1, { b: null }]]]) }),
	{ ...outcome(10, "updated"), isSame: true },
	{ ...outcome(11), status: "failed", error: { code: "NOT_FOUND", text: "" }, isUntouched: true },
	{ kind: "sent", row: 3, datasetId: "set", documentId: "doc-3", write: "remove" },
	sent(4, { documentId: "", write: "upload", fileName: "ä\r\n.txt", size: 0, namesakes: ["x", "y"] }),
	{ kind: "stored", row: 4, documentId: "new", storedName: "ä(1).txt" },
];

/** A line with a right checksum and this body. */
function line(body: string): string {
	return `{"c":"${crc32(body).toString(16).padStart(8, "0")}",${body}`;
}

function written(record: JournalRecord): string {
	return encode(record).slice(0, -1);
}

describe("a record", () => {
	it("has the checksum of other programs, or they could not check a journal", () => {
		expect(checksum("123456789")).toBe("cbf43926");
		expect(checksum("")).toBe("00000000");
		fc.assert(
			fc.property(fc.string(), (text) => {
				expect(checksum(text)).toBe(crc32(text).toString(16).padStart(8, "0"));
				expect(checksum(Buffer.from(text))).toBe(checksum(text));
			}),
		);
	});

	it.each(EACH)("reads back as it was written, or a resume would do something else: $kind", (record) => {
		expect(encode(record).indexOf("\n")).toBe(encode(record).length - 1);
		expect(decode(written(record))).toEqual(record);
		expect(decode(Buffer.from(written(record)))).toEqual(record);
	});

	it("is the documented line, or scripts and older versions could not read it", () => {
		const body = '"k":"r","i":7,"l":9,"s":"failed","e":"CODE_102","x":"no","a":2,"id":"doc-7"}';
		const record = { ...outcome(7, "failed", 2), status: "failed", error: { code: "CODE_102", text: "no" } } as const;
		expect(written(record)).toBe(line(body));
		expect(JSON.parse(written(sent(1)))).toEqual({
			c: expect.stringMatching(/^[0-9a-f]{8}$/),
			k: "s",
			i: 1,
			d: "set",
			id: "doc-1",
			w: "update",
			m: { author: "Ann 1" },
		});
		expect(JSON.parse(written({ kind: "end", counts, exitCode: 7, time: "t" }))).toMatchObject({
			k: "e",
			counts: { rows: 0, duplicate_skipped: 0, attempts: 0 },
			code: 7,
		});
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
				const before = { before: metadata, beforeText: metadataText(metadata) };
				expect(written(sent(1, { metadata, ...before }))).toBe(written(sent(1, { metadata, before: metadata })));
			}),
		);
	});

	it("that is too long to be read back is refused before anything is sent", () => {
		const metadata = new Map([["text", "x".repeat(MAX_LINE_BYTES)]]);
		expect(() => encode(sent(1, { metadata }))).toThrow(RangeError);
	});

	it.each([
		["another checksum", written(outcome(7)).replace('"i":7', '"i":8')],
		["a checksum in capitals", line('"k":"reopen","t":"4"}').replace(/[0-9a-f]{8}/, (hex) => hex.toUpperCase())],
		["no checksum", '{"k":"reopen","t":"t"}'],
		["nothing", ""],
		["its line end", encode(outcome(7))],
		["CR", `${written(outcome(7))}\r`],
		["no JSON", line('"k":"reopen","t":}')],
		["something behind it", line('"k":"reopen","t":"t"}{}')],
		["no kind", line('"t":"t"}')],
		["an unknown kind", line('"k":"z","t":"t"}')],
		["a kind that every object has", line('"k":"toString","t":"t"}')],
		["a row that is no number", line('"k":"r","i":"7","l":9,"s":"updated","a":1}')],
		["a negative row", line('"k":"r","i":-1,"l":9,"s":"updated","a":1}')],
		["half a row", line('"k":"r","i":0.5,"l":9,"s":"updated","a":1}')],
		["a row beyond exact numbers", line('"k":"r","i":9007199254740993,"l":9,"s":"updated","a":1}')],
		["line 0", line('"k":"r","i":0,"l":0,"s":"updated","a":1}')],
		["an unknown status", line('"k":"r","i":0,"l":2,"s":"invalid","a":1}')],
		["a failure without a code", line('"k":"r","i":0,"l":2,"s":"failed","x":"no","a":1}')],
		["a success with a code", line('"k":"r","i":0,"l":2,"s":"updated","e":"X","a":1}')],
		["an unknown write", line('"k":"s","i":0,"d":"set","w":"touch"}')],
		["a dataset that is missing", line('"k":"s","i":0,"w":"update"}')],
		["a before-image that is a list", line('"k":"s","i":0,"d":"set","w":"update","b":[]}')],
		["a time that is text", line('"k":"s","i":0,"d":"set","w":"update","t":"now"}')],
		[
			"a failed row that is said to be the same",
			line('"k":"r","i":0,"l":2,"s":"failed","e":"A","x":"b","a":1,"same":1}'),
		],
		["metadata that is a list", line('"k":"s","i":0,"d":"set","w":"update","m":[]}')],
		["namesakes that are no texts", line('"k":"s","i":0,"d":"set","w":"upload","n":[1]}')],
		["a count that is missing", line('"k":"e","counts":{"rows":1},"code":0,"t":"t"}')],
		["no counts", line('"k":"e","counts":null,"code":0,"t":"t"}')],
		["codes that are no list", line('"k":"reopen","t":"t","codes":"X"}')],
		["more left out than there is", written(header({ manifest: { ...header().manifest, rows: 4 } }))],
		["version 0", line(written(header()).slice(16).replace('"v":1', '"v":0'))],
	])("with %s is refused, or a wrong count would be reported", (_, text) => {
		expect(decode(text)).toBeUndefined();
	});

	it("of a newer format is not taken for damage, or a newer run would be cut", () => {
		expect(decode(line('"k":"h","v":2,"something":"else"}'))).toEqual({ kind: "newer", version: 2 });
	});

	it("may have members that a later version adds", () => {
		const text = line('"k":"reopen","t":"t","more":[1]}');
		expect(decode(text)).toEqual({ kind: "reopen", time: "t" });
	});

	it("that ends an execution has the counts of its state", () => {
		const state = new JournalState();
		state.apply(header());
		expect(state.apply(end(state))).toBeUndefined();
		expect(state.end?.exitCode).toBe(0);
	});
});
