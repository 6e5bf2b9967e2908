import type { Scalar } from "yaml";
import { errorCode } from "../errors.ts";
import { openInput } from "../input-file.ts";
import { survivesDouble } from "../json/numbers.ts";
import { parseJson } from "../json/parse-json.ts";
import {
	DEEPEST_METADATA,
	hasHalfPair,
	isDeeperThan,
	isJsonObject,
	type Metadata,
	metadataOf,
} from "../json/values.ts";

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
	const { isMap, LineCounter, parseDocument, visit } = await import("yaml");
	const counter = new LineCounter();
	const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true, stringKeys: true });
	const faultAt = (offset: number, why: string): FrontMatterFault => {
		const { line, col } = counter.linePos(offset);
		return { line: first - 1 + Math.max(1, line), column: Math.max(1, col), text: why };
	};
	const [error] = document.errors;
	if (error !== undefined) return faultAt(error.pos[0], `no valid YAML: ${error.message.split("\n")[0] ?? ""}`);
	if (document.contents === null) return NONE;
	if (!isMap(document.contents)) return faultAt(0, "is no list of keys and values");
	const faults: FrontMatterFault[] = [];
	const refuse = ({ range }: Pick<Scalar, "range">, why: string): symbol => {
		faults.push(faultAt(range?.[0] ?? 0, why));
		return visit.BREAK;
	};
	visit(document, {
		Alias: (_, node) => refuse(node, "an alias (*) is not read: write the value itself"),
		Scalar: (_, node) => {
			const why = scalarFault(node);
			return why === undefined ? undefined : refuse(node, why);
		},
	});
	const [fault] = faults;
	if (fault !== undefined) return fault;
	const value = parseJson(JSON.stringify(document.toJS()));
	const metadata = metadataOf(isJsonObject(value) ? value : {});
	const deep = [...metadata].find(([, each]) => isDeeperThan(each, DEEPEST_METADATA - 1));
	return deep === undefined ? metadata : faultAt(0, `${deep[0]} has more than ${DEEPEST_METADATA} levels`);
}

/** Why a value can't be sent as it stands. */
function scalarFault({ value, source = "" }: Scalar): string | undefined {
	if (value === null || typeof value === "boolean") return undefined;
	if (typeof value === "string") return hasHalfPair(value) ? "holds half a surrogate pair" : undefined;
	if (typeof value !== "number") return `"${source}" is no text, number or truth value`;
	const isDecimal = /^[-+]?\d/.test(source);
	const isKept = Number.isFinite(value) && (!isDecimal || survivesDouble(source.replace(/^\+/, "")));
	return isKept ? undefined : `${source} can't be sent as a number: write it in quotes`;
}

/** The first lines of a file, as far as they may belong to a front matter; undefined where it is no text. */
async function firstLines(path: string): Promise<string[] | undefined> {
	await using file = await openInput(path);
	try {
		const chunks: Uint8Array[] = [];
		let size = 0;
		for await (const chunk of file.bytes()) {
			if (size === 0 && !/^\ufeff?---\r?\n/.test(chunk.toString("utf8", 0, 8))) break;
			chunks.push(chunk);
			size += chunk.length;
			if (size > MOST_BYTES) break;
		}
		const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks), { stream: true });
		return text.split("\n").map((line) => line.replace(/\r$/, ""));
	} catch (error) {
		// No UTF-8: the file is uploaded as it is, and says nothing of itself.
		if (error instanceof TypeError && errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") return undefined;
		throw error;
	}
}
