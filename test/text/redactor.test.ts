import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor, resultRedactor } from "../../src/text/redactor.ts";
import { strayKeys } from "../../src/text/stray-keys.ts";
import { processorTime } from "../support/cpu.ts";
import { ENCODINGS, withoutKeyInAnyForm } from "../support/encodings.ts";

const KEY = "ragflow-Canary7Qx2Zp9Lm4Wv8Ts-_x";
const BODY = KEY.slice(8);

describe("the key in a text of the service's", () => {
	const body = "AbCdEf0123456789xyz~";
	const redact = redactor(`ragflow-${body}`);

	test.each([
		["whole", `Bearer ragflow-${body}!`, "Bearer ***!"],
		["body", `<${body}>`, "<***>"],
		["a piece of 6", "you sent AbCdEf", "you sent ***"],
		["from its middle", "...456789...", "...***..."],
		["a piece of 5 stays", "AbCdE", "AbCdE"],
		["the prefix stays", "ragflow-", "ragflow-"],
		["twice", `${body} ${body}`, "*** ***"],
	])("%s", (_, text, masked) => {
		expect(redact(text)).toBe(masked);
	});

	test("percent-encoded, hexadecimal and Base64 forms leak it no less", () => {
		const wanted = [
			Buffer.from(body).toString("hex"),
			Buffer.from(body).toString("hex").toUpperCase(),
			...["", "a", "ab", "user:", "ragflow-"].map((before) => Buffer.from(before + body + "tail").toString("base64")),
		];
		for (const text of wanted) {
			const masked = redact(text);
			expect(masked).toContain("***");
			expect(masked.length).toBeLessThan(text.length - 16);
		}
		expect(redactor("k-a%b%c%d%e")(encodeURIComponent("a%b%c%d%e"))).toBe("***");
	});

	test("a key without a dash counts as body whole; a short one is masked whole only", () => {
		expect(redactor("abcdefgh")("xbcdefgx")).toBe("x***x");
		expect(redactor("k-ab")("the k-ab and ab")).toBe("the *** and ab");
		expect(redactor("")("text")).toBe("text");
	});

	test("no text shows 6 characters of it together", () => {
		const part = fc.oneof(
			fc.string(),
			fc.tuple(fc.nat(body.length), fc.nat(body.length)).map(([from, to]) => body.slice(from, to)),
		);
		fc.assert(
			fc.property(fc.array(part), (parts) => {
				const masked = redact(parts.join(""));
				for (let at = 0; at + 6 <= body.length; at++) expect(masked).not.toContain(body.slice(at, at + 6));
			}),
		);
	});
});

describe("a key that comes back in another form", () => {
	const forms = Object.entries(ENCODINGS);

	test.each(forms)("%s: is seen in no message, alone, in a sentence or in a piece", (name, encode) => {
		const redact = redactor(KEY);
		for (const text of [encode(KEY), `token "${encode(BODY)}" is wrong`, encode(BODY.slice(3, 27))]) {
			expect(redact(text)).toContain("***");
			withoutKeyInAnyForm(redact(text), KEY, name);
		}
	});

	test.each(forms)("%s: is seen in no result", (name, encode) => {
		const masked = resultRedactor(KEY)(`{"name":"${encode(KEY)}","other":"${encode(BODY)}"}`);
		expect(masked).toMatch(/^\{"name":".*\*\*\*.*","other":".*\*\*\*.*"\}$/);
		withoutKeyInAnyForm(masked, KEY, name);
	});

	test.each(forms)("%s: and escaped once more, as in JSON in JSON", (name, encode) => {
		const twice = JSON.stringify(encode(BODY).replaceAll("&", "&amp;").replaceAll("%", "%25"));
		withoutKeyInAnyForm(redactor(KEY)(twice), KEY, name);
		expect(redactor(KEY)(twice)).toContain("***");
	});

	test("other escapes stay as they are", () => {
		const text = '100% of A%20B &amp; &#169; \\u00e4 "a\\nb" =\r\n &unknown; %zz \\x41';
		expect(redactor(KEY)(text)).toBe(text);
	});

	test("a document's own value that shares 6 or 15 characters with the key stays whole in a result", () => {
		for (const length of [6, 15]) {
			const text = `{"title":"${BODY.slice(0, length)} and more"}`;
			expect(resultRedactor(KEY)(text)).toBe(text);
		}
		expect(resultRedactor(KEY)(BODY.slice(2, 18))).toBe("***");
		expect(resultRedactor("k-ab")("the k-ab and ab")).toBe("the *** and ab");
	});

	test("whatever stands around it, and however often it is escaped, nothing else is lost", () => {
		const around = fc.string({ maxLength: 20 }).filter((text) => !/[%&\\=]/.test(text));
		const encode = fc.constantFrom(ENCODINGS["percent"], ENCODINGS["json"], ENCODINGS["decimal"], ENCODINGS["raw"]);
		fc.assert(
			fc.property(around, around, encode, (before, after, form) => {
				if (form === undefined) return;
				expect(redactor(KEY)(before + form(KEY) + after)).toBe(`${before}***${after}`);
			}),
		);
	});

	test("a text of a million characters is masked in no more than a moment", async () => {
		const redact = resultRedactor(KEY);
		const text = `{"url":"https://example.com/a%20b","text":"${"lorem ipsum ".repeat(80_000)}"}`;
		expect(await processorTime(() => expect(redact(text)).toBe(text))).toBeLessThan(3000);
	});
});

describe("keys in the wrong place", () => {
	const found = (argv: readonly string[], env = {}): readonly string[] => {
		const { certain, likely } = strayKeys(argv, env, (path) => path === "ragflow-RealFileOfThatName2024");
		return [...certain, ...[...likely].map((key) => `likely ${key}`)];
	};
	const other = "sk-Abc123Def456Ghi789Jkl";

	test.each<[readonly string[], Record<string, string>, readonly string[]]>([
		[["--api-key-file", KEY], {}, [KEY]],
		[[`--api-key=${KEY}`], {}, [KEY]],
		[["--api-key", "plainwords"], {}, ["plainwords"]],
		[["--profile", KEY], {}, [KEY]],
		[["docs", "tag", KEY], {}, [KEY]],
		[["--profile", other], {}, [`likely ${other}`]],
		[[], { RAGTAG_BASE_URL: KEY }, [KEY]],
		[[], { RAGTAG_BASE_URL: `https://rag.example.com/${KEY}/api` }, [KEY]],
		[[], { RAGTAG_API_KEY_FILE: `"${other}"` }, [`likely ${other}`]],
		[[], { RAGTAG_API_KEY: "a short sentence" }, ["a short sentence"]],
		[[], { RAGTAG_API_KEY: "test" }, []],
		[[], { OTHER: KEY }, []],
		[["sandbox", "--key", KEY], { RAGTAG_API_KEY: KEY }, []],
		[["sandbox", `--key=${KEY}`], {}, []],
		[["docs", "tag", "tags.csv", "-d", "8fe6a1b2c3d4e5f60718293a4b5c6d7e"], {}, []],
		[["docs", "tag", "ragflow-export-2024-11-final.csv"], {}, []],
		[["docs", "tag", "ragflow-RealFileOfThatName2024"], {}, []],
		[["runs", "show", "20261122T031830-a1b2c3"], {}, []],
		[["--set", "author=Anna Maria von Mustermann"], {}, []],
		[["--api-key-file", "/home/me/ragflow.key"], {}, []],
	])("%j %j: %j", (argv, env, expected) => {
		expect(found(argv, env)).toEqual(expected);
	});
});
