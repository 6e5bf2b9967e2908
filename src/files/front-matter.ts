import { errorCode, reason } from "../errors.ts";
import { openInput } from "../input-file.ts";
import { survivesDouble } from "../json/numbers.ts";
import { DEEPEST_METADATA, hasHalfPair, isDeeperThan, type JsonValue, type Metadata } from "../json/values.ts";

/** What is wrong with a front matter. Lines and columns count from 1. */
type FrontMatterFault = { readonly line: number; readonly column: number; readonly text: string };

/** Endings of files that may begin with a front matter. */
const ENDINGS: ReadonlySet<string> = new Set(["md", "markdown", "mdx", "qmd", "rmd"]);

/** 1 MiB: a front matter is a page at most, and a file that only begins like one is not read to its end. */
const MOST_BYTES = 1024 * 1024;

const NONE: Metadata = new Map();

/** Whether a file with this ending may have a front matter. */
export function mayHaveFrontMatter(ext: string): boolean {
	return ENDINGS.has(ext.toLowerCase());
}

/**
 * The front matter of a Markdown file: YAML between a first line `---` and the next line `---` or `...`.
 *
 * @returns no values where it has none
 * @throws Error of the system where the file can't be read
 */
export async function readFrontMatter(path: string): Promise<Metadata | FrontMatterFault> {
	const lines = await firstLines(path);
	if (lines?.[0] !== "---") return NONE;
	const end = lines.findIndex((line, index) => index > 0 && (line === "---" || line === "..."));
	// A line alone is a rule of Markdown.
	if (end === -1) return NONE;
	return parseFrontMatter(lines.slice(1, end).join("\n"), 2);
}

/** @param first the line of the file on which the text begins */
async function parseFrontMatter(text: string, first: number): Promise<Metadata | FrontMatterFault> {
	const { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } = await import("yaml");
	const counter = new LineCounter();
	const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
	const fault = (offset: number, why: string): FrontMatterFault => {
		const { line, col } = counter.linePos(offset);
		return { line: first - 1 + Math.max(1, line), column: Math.max(1, col), text: why };
	};
	const [error] = document.errors;
	if (error !== undefined) return fault(error.pos[0], `no valid YAML: ${error.message.split("\n")[0] ?? ""}`);
	if (document.contents === null) return NONE;
	if (!isMap(document.contents)) return fault(0, "is no list of keys and values");

	/** @throws Fault */
	function valueOf(node: unknown): JsonValue {
		if (isSeq(node)) return node.items.map((item) => valueOf(item));
		if (isMap(node)) return Object.fromEntries(node.items.map((pair) => entryOf(pair)));
		if (isAlias(node)) throw new Fault(fault(node.range?.[0] ?? 0, "an alias (*) is not read: write the value itself"));
		if (!isScalar(node)) return null;
		const { value, source = "", range } = node;
		const at = range?.[0] ?? 0;
		if (value === null || typeof value === "boolean") return value;
		if (typeof value === "string") {
			if (hasHalfPair(value)) throw new Fault(fault(at, "holds half a surrogate pair"));
			return value;
		}
		if (typeof value !== "number") throw new Fault(fault(at, `"${source}" is no text, number or truth value`));
		const isDecimal = /^[-+]?\d/.test(source);
		if (Number.isFinite(value) && (!isDecimal || survivesDouble(source.replace(/^\+/, "")))) return value;
		throw new Fault(fault(at, `${source} can't be sent as a number: write it in quotes`));
	}

	function entryOf(pair: unknown): [string, JsonValue] {
		if (!isPair(pair)) return ["", null];
		const { key } = pair;
		const isText = isScalar(key) && (typeof key.value === "string" || typeof key.value === "number");
		if (!isText) throw new Fault(fault(0, "has a key that is no text"));
		return [String(key.source ?? key.value), valueOf(pair.value)];
	}

	try {
		const entries = document.contents.items.map((pair) => entryOf(pair));
		const deep = entries.find(([, value]) => isDeeperThan(value, DEEPEST_METADATA - 1));
		if (deep !== undefined) return fault(0, `${deep[0]} has more than ${DEEPEST_METADATA} levels`);
		return new Map(entries);
	} catch (caught) {
		if (caught instanceof Fault) return caught.fault;
		throw caught;
	}
}

class Fault extends Error {
	readonly fault: FrontMatterFault;

	constructor(fault: FrontMatterFault) {
		super(fault.text);
		this.fault = fault;
	}
}

/** The first lines of a file, as far as they may belong to a front matter; undefined where it is no text. */
async function firstLines(path: string): Promise<string[] | undefined> {
	const file = await openInput(path);
	try {
		const chunks: Uint8Array[] = [];
		let size = 0;
		for await (const chunk of file.bytes()) {
			chunks.push(chunk);
			size += chunk.length;
			const isOther = size >= 4 && !/^(?:\ufeff)?---\r?\n/.test(Buffer.concat(chunks).subarray(0, 8).toString());
			if (isOther || size > MOST_BYTES) break;
		}
		const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks), { stream: true });
		return text.split("\n").map((line) => line.replace(/\r$/, ""));
	} catch (error) {
		// No UTF-8: the file is uploaded as it is, and says nothing of itself.
		if (error instanceof TypeError && errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") return undefined;
		throw error instanceof Error ? error : new Error(reason(error));
	} finally {
		await file.close();
	}
}
