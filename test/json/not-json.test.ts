import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNotJson, parseLoosely } from "../../src/json/parse-json.ts";
import { Decoder } from "../../src/rest/decode.ts";
import { readEnvelope } from "../rest/decoded.ts";

describe("NaN and the infinities are read as what they are", () => {
	it.each<[string, unknown]>([
		["NaN", Number.NaN],
		['{"a": NaN}', { a: Number.NaN }],
		['{"a":-Infinity,"b":[Infinity ,NaN]}', { a: -Infinity, b: [Infinity, Number.NaN] }],
		['{"a":"NaN","b":"x, NaN, \\" : NaN","c":NaN}', { a: "NaN", b: 'x, NaN, " : NaN', c: Number.NaN }],
		['[{"__proto__":NaN}]', [Object.fromEntries([["__proto__", Number.NaN]])]],
	])("in %s", (text, value) => {
		expect(parseLoosely(text)).toStrictEqual(value);
	});

	it.each([
		"{NaN:1}",
		"[1NaN]",
		"[NaN1]",
		"[--Infinity]",
		"[+NaN]",
		"[nan]",
		"[NaN",
		"NaN NaN",
		'["NaN]',
		"[xNaN]",
		"",
	])("and %j is still no answer at all", (text) => {
		expect(parseLoosely(text)).toBeUndefined();
	});

	it("wherever they stand, and nothing else changes", () => {
		const { value } = fc.letrec((tie) => ({
			value: fc.oneof(
				{ depthSize: "small" },
				fc.constantFrom(Number.NaN, Infinity, -Infinity),
				fc.oneof(fc.string(), fc.constantFrom("NaN", ":NaN,", "-Infinity", '"', "\\")),
				fc.integer(),
				fc.array(tie("value"), { maxLength: 4 }),
				fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
			),
		}));
		const pythonText = (of: unknown): string => {
			if (typeof of === "number") return String(of);
			if (Array.isArray(of)) return `[${of.map(pythonText).join(", ")}]`;
			if (typeof of !== "object" || of === null) return JSON.stringify(of);
			return `{${Object.entries(of)
				.map(([key, inner]) => `${JSON.stringify(key)}: ${pythonText(inner)}`)
				.join(", ")}}`;
		};
		fc.assert(
			fc.property(value, (of) => {
				expect(JSON.stringify(parseLoosely(pythonText(of)))).toBe(JSON.stringify(of));
				expect(pythonText(parseLoosely(pythonText(of)))).toBe(pythonText(of));
				if (!isNotJson(pythonText(of))) JSON.parse(pythonText(of));
			}),
		);
	});
});

describe("an answer with NaN in it", () => {
	const decode = new Decoder({ host: "host:1", redact: (text) => text });

	it("to an update names its document as any: RAGFlow v0.20 to v0.23 answer with all of it", () => {
		const envelope = readEnvelope('{"code":0,"data":{"id":"d1","meta_fields":{"pages":NaN}}}');
		if (typeof envelope === "string") throw new Error(envelope);
		expect(decode.echo(envelope, "d1")).toBe("id");
	});

	it("has no success where the code is none", () => {
		expect(readEnvelope('{"code":NaN}')).toBe("JSON without a numeric code");
		expect(readEnvelope('{"code":0,"data":NaN')).toBe("an answer that is no complete JSON");
	});

	it("is refused where it is nested too deep for its digits to be read", () => {
		const deep = `${"[".repeat(1001)}${"]".repeat(1001)}`;
		const envelope = readEnvelope(`{"code":0,"more":${deep},"data":{"docs":[{"id":"d1","name":1e400}]}}`);
		if (typeof envelope === "string") throw new Error(envelope);
		expect(() => decode.documents(envelope, "set")).toThrow(expect.objectContaining({ code: "BAD_DATA" }));
		expect(readEnvelope(`{"code":0,"more":${deep},"data":NaN}`)).toBe("an answer that is no complete JSON");
	});

	it("gives the text of each value that can't be sent back, and the others as they are", () => {
		const fields = '{"a":NaN,"b":"NaN","c":[1,{"d":-Infinity}],"e":12345678901234567890,"f":1}';
		const envelope = readEnvelope(`{"code":0,"data":{"docs":[{"id":"d1","name":"n","meta_fields":${fields}}]}}`);
		if (typeof envelope === "string") throw new Error(envelope);
		const [document] = decode.documents(envelope, "set").items;
		expect(Object.fromEntries(document?.inexact ?? [])).toEqual({
			a: "NaN",
			c: '[1,{"d":-Infinity}]',
			e: "12345678901234567890",
		});
		expect(document?.metadata?.get("a")).toBeNaN();
		expect(document?.metadata?.get("b")).toBe("NaN");
	});
});
