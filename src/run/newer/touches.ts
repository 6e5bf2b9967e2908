import { idKey } from "../../text/names.ts";

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
