import { idKey } from "../../text/names.ts";

/** Bits of a document's hash that its upper part has: together with 32 bits, the most that are exact in a number. */
const UPPER_BITS = 21;

/**
 * Documents that executions have touched: each once, with the newest of these executions. A document takes sixteen bytes,
 * whatever the length of its ids.
 */
export type Touches = {
	/** hashes of documents, in ascending order */
	readonly documents: Float64Array;
	/** for each document, the number of the newest execution that has touched it */
	readonly orders: Float64Array;
};

export const NO_TOUCHES: Touches = { documents: new Float64Array(0), orders: new Float64Array(0) };

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

/** The number of the newest execution that has touched a document; undefined where none has. */
export function newestTouch({ documents, orders }: Touches, document: number): number | undefined {
	let from = 0;
	let to = documents.length;
	while (from < to) {
		const middle = (from + to) >>> 1;
		if ((documents[middle] ?? 0) < document) from = middle + 1;
		else to = middle;
	}
	return documents[from] === document ? orders[from] : undefined;
}

/** All touches together. They are joined in pairs, so that a thousand long lists do not take a million steps for each. */
export function joinTouches(parts: readonly Touches[]): Touches {
	let joined = parts;
	while (joined.length > 1) {
		joined = Array.from({ length: Math.ceil(joined.length / 2) }, (_, pair) =>
			join(joined[2 * pair] ?? NO_TOUCHES, joined[2 * pair + 1] ?? NO_TOUCHES),
		);
	}
	return joined[0] ?? NO_TOUCHES;
}

function join(one: Touches, other: Touches): Touches {
	if (one.documents.length === 0) return other;
	if (other.documents.length === 0) return one;
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

/** Hashes in ascending order, each once. */
export function sortedOnce(hashes: Float64Array): Float64Array {
	const sorted = hashes.toSorted();
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
