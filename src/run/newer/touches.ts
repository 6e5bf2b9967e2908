import * as v from "valibot";
import { idKey } from "../../text/names.ts";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { jsonObjectOf } from "../../json/parse-json.ts";
import type { JsonObject, JsonValue } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { isRunId } from "../recorded/run-file.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isAbsent } from "../storage/quick-files.ts";

/** Bits of a document's hash that its upper part has: together with 32 bits, the most that are exact in a number. */
const UPPER_BITS = 21;

/**
 * Documents that executions have touched: each once, with the newest of these executions. A document takes sixteen bytes,
 * whatever the length of its ids.
 */
type Touches = {
	/** hashes of documents, in ascending order */
	readonly documents: Float64Array;
	/** for each document, the number of the newest execution that has touched it */
	readonly orders: Float64Array;
};

/**
 * A hash of a document's ids, as a whole number below 2⁵³. Two of a million documents have the same one with a chance of
 * one in ten thousand, and then a row is left alone that could have been sent.
 */
export function documentHash(datasetId: string, documentId: string): number {
	const key = `${idKey(datasetId)}\0${idKey(documentId)}`;
	return (hash(key, 0x811c9dc5) >>> (32 - UPPER_BITS)) * 2 ** 32 + hash(key, 0x9747b28c);
}

/** FNV-1a, and the last step of MurmurHash3, so that each bit depends on every character. A cryptographic hash takes ten times as long. */
function hash(text: string, seed: number): number {
	let value = seed;
	for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
	value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
	value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
	return (value ^ (value >>> 16)) >>> 0;
}

/** The documents of one execution. @param documents their hashes in ascending order, each once */
export function touchesOf(documents: Float64Array, order: number): Touches {
	return { documents, orders: new Float64Array(documents.length).fill(order) };
}

function newestTouch({ documents, orders }: Touches, document: number): number | undefined {
	let from = 0;
	let to = documents.length;
	while (from < to) {
		const middle = (from + to) >>> 1;
		if ((documents[middle] ?? 0) < document) from = middle + 1;
		else to = middle;
	}
	return documents[from] === document ? orders[from] : undefined;
}

/** Touches that are joined as they come. Lists of a like length are joined first, so that many short ones cost few steps. */
export class JoinedTouches {
	readonly #parts: Touches[] = [];

	get isEmpty(): boolean {
		return this.#parts.length === 0;
	}

	add(touches: Touches): void {
		if (touches.documents.length === 0) return;
		let last = touches;
		for (let before = this.#parts.at(-1); before !== undefined; before = this.#parts.at(-1)) {
			if (before.documents.length > 2 * last.documents.length) break;
			this.#parts.pop();
			last = join(before, last);
		}
		this.#parts.push(last);
	}

	/** The number of the newest execution that has touched a document; undefined where none has. */
	newest(document: number): number | undefined {
		let newest: number | undefined;
		for (const part of this.#parts) {
			const order = newestTouch(part, document);
			if (order !== undefined && order > (newest ?? 0)) newest = order;
		}
		return newest;
	}

	/** All documents, each once. */
	*documents(): Generator<number> {
		for (const [at, { documents }] of this.#parts.entries()) {
			const earlier = this.#parts.slice(0, at);
			for (const one of documents) if (earlier.every((part) => newestTouch(part, one) === undefined)) yield one;
		}
	}
}

function join(one: Touches, other: Touches): Touches {
	const documents = new Float64Array(one.documents.length + other.documents.length);
	const orders = new Float64Array(documents.length);
	let length = 0;
	for (let left = 0, right = 0; left < one.documents.length || right < other.documents.length; length++) {
		const first = one.documents[left] ?? Number.POSITIVE_INFINITY;
		const second = other.documents[right] ?? Number.POSITIVE_INFINITY;
		documents[length] = Math.min(first, second);
		const orderOfFirst = first <= second ? (one.orders[left++] ?? 0) : 0;
		const orderOfSecond = second <= first ? (other.orders[right++] ?? 0) : 0;
		orders[length] = Math.max(orderOfFirst, orderOfSecond);
	}
	return { documents: documents.slice(0, length), orders: orders.slice(0, length) };
}

/** The hashes of some lists in ascending order, each once. */
export function sortedOnce(...lists: readonly Float64Array[]): Float64Array {
	const sorted = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
	let from = 0;
	for (const list of lists) {
		sorted.set(list, from);
		from += list.length;
	}
	sorted.sort();
	let length = 0;
	for (const one of sorted) {
		if (length === 0 || sorted[length - 1] !== one) sorted[length++] = one;
	}
	return sorted.slice(0, length);
}

/** The hashes that are not among the others. Both are in ascending order. */
export function without(hashes: Float64Array, others: Float64Array): Float64Array {
	let at = 0;
	return hashes.filter((one) => {
		while ((others[at] ?? Number.POSITIVE_INFINITY) < one) at += 1;
		return others[at] !== one;
	});
}

/** The documents that one execution of a run has touched, as sorted hashes. */
type ExecutionTouches = {
	/** its number in the order of all executions */
	readonly order: number;
	/** written, removed or uploaded: sent, and not certainly refused */
	readonly written: Float64Array;
	readonly unchanged: Float64Array;
};

/** The run that an undo takes back, and whether it has done so completely. */
export type Undone = { readonly run: string; readonly isComplete: boolean };

/** The documents that a run has touched. */
export type RunTouches = {
	readonly run: string;
	readonly baseUrl: string;
	readonly executions: readonly ExecutionTouches[];
	/** present in an undo whose record was removed */
	readonly undoes?: Undone | undefined;
};

/** The folder of these lists, next to the folders of runs. A list outlives the record of its run while an older run needs it. */
const FOLDER = ".touched";

/** Increased when the form of a list changes: an older list is then made anew. */
const SCHEMA = 1;

/** The first line of a list: `executions` has the order of each, and the number of hashes of both kinds. */
const HEAD = v.object({
	schema: v.literal(SCHEMA),
	base_url: v.string(),
	stamp: v.string(),
	crc: v.number(),
	executions: v.array(v.tuple([v.number(), v.number(), v.number()])),
	undoes: v.optional(v.string()),
	undone_whole: v.optional(v.boolean(), false),
});

const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function listPath(runs: RunStore, run: string): string {
	return runs.path(FOLDER, run);
}

export function listNames(runs: RunStore): string[] {
	try {
		return readdirSync(runs.path(FOLDER)).filter(isRunId);
	} catch (error) {
		if (isAbsent(error)) return [];
		throw error;
	}
}

/** Writes a list: a line of JSON, then the hashes. The file is complete or absent. */
export async function writeList(
	runs: RunStore,
	{ run, baseUrl, executions, undoes }: RunTouches,
	stamp: string,
): Promise<void> {
	const hashes = Buffer.concat(executions.flatMap(({ written, unchanged }) => [bytesOf(written), bytesOf(unchanged)]));
	const listed = executions.map(({ order, written, unchanged }) => [order, written.length, unchanged.length]);
	const crc = checksum(listed, hashes);
	const head: JsonObject = {
		schema: SCHEMA,
		base_url: baseUrl,
		stamp,
		crc,
		executions: listed,
		...(undoes && { undoes: undoes.run, undone_whole: undoes.isComplete }),
	};
	mkdirSync(runs.path(FOLDER), { recursive: true, mode: 0o700 });
	await writeWhole(listPath(runs, run), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), hashes]));
}

function checksum(executions: readonly JsonValue[], hashes: Uint8Array): number {
	return crc32(hashes, crc32(JSON.stringify(executions)));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
	return Buffer.from(buffer, byteOffset, byteLength);
}

type KeptList = { readonly touches: RunTouches; readonly stamp: string };

/** @returns undefined where there is no list, "damaged" where this version has not written it whole */
export function readList(runs: RunStore, run: string): KeptList | "damaged" | undefined {
	let bytes: Buffer;
	try {
		bytes = readFileSync(listPath(runs, run));
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
	const end = bytes.indexOf("\n");
	const { success, output } = v.safeParse(HEAD, jsonObjectOf(bytes.toString("utf8", 0, Math.max(0, end))));
	if (!success) return "damaged";
	const { base_url: baseUrl, stamp, crc, executions: listed, undoes, undone_whole: isComplete } = output;
	const hashes = bytes.subarray(end + 1);
	if (checksum(listed, hashes) !== crc) return "damaged";
	let at = hashes.byteOffset;
	const take = (length: number): Float64Array => {
		const part = new Float64Array(hashes.buffer.slice(at, at + length * BYTES));
		at += length * BYTES;
		return part;
	};
	const executions = listed.map(([order, written, unchanged]): ExecutionTouches => {
		return { order, written: take(written), unchanged: take(unchanged) };
	});
	const undone = undoes === undefined ? undefined : { run: undoes, isComplete };
	return { touches: { run, baseUrl, executions, undoes: undone }, stamp };
}
