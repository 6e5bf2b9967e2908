import { type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import type { Normalise } from "../rest/flavours.ts";

/** One write to a document. `By` is whatever tells which write it was. */
export type BlamedWrite<By> = {
	readonly by: By;
	/** the whole metadata that was sent; undefined where the document was removed */
	readonly sent: Metadata | undefined;
	/** what the document had before; undefined where that is not known */
	readonly before: Metadata | undefined;
	/** whether it certainly arrived */
	readonly isCertain: boolean;
};

/** Who did something. */
export type Origin<By> = {
	/** the write that did it, or the first one that saw what others had done */
	readonly by: By;
	/** false for what no run recorded */
	readonly isRecorded: boolean;
	readonly isCertain: boolean;
};

export type BlamedValue<By> = { readonly key: string; readonly value: JsonValue; readonly origin: Origin<By> };

/** What happened to a key, or to the whole document. */
export type BlamedEvent<By> = { readonly origin: Origin<By> } & (
	| { readonly action: "add"; readonly key: string; readonly to: JsonValue }
	| { readonly action: "change"; readonly key: string; readonly from: JsonValue; readonly to: JsonValue }
	| { readonly action: "remove"; readonly key: string; readonly from: JsonValue }
	| { readonly action: "remove document" }
);

export type Blame<By> = {
	/** who set each present value, in the order in which they were sent */
	readonly present: readonly BlamedValue<By>[];
	/** who removed the document; undefined where it was not removed */
	readonly removal: Origin<By> | undefined;
	/** all that happened, the oldest first */
	readonly events: readonly BlamedEvent<By>[];
};

/** What is known of a key. Behind a write in doubt stands what is there if it did not arrive. */
type Entry<By> = {
	/** undefined where the key is not there */
	readonly value: JsonValue | undefined;
	readonly origin: Origin<By>;
	readonly otherwise: Entry<By> | undefined;
};

type Entries<By> = ReadonlyMap<string, Entry<By>>;
type Tell<By> = (event: BlamedEvent<By>) => void;

/**
 * Which write set each value that a document has now, as far as the writes tell.
 *
 * A value that a write left as it was keeps its origin. What a write saw and no earlier one had left was done by others.
 *
 * @param writes all that are known, the oldest first
 * @param keeps what the service keeps of what it is sent: a list that it took apart was changed by nobody
 */
export function blame<By>(writes: readonly BlamedWrite<By>[], keeps: Normalise = (sent) => sent): Blame<By> {
	const events: BlamedEvent<By>[] = [];
	const tell: Tell<By> = (event) => void events.push(event);
	let entries: Entries<By> = new Map();
	let removal: Origin<By> | undefined;
	for (const { by, sent, before, isCertain } of writes) {
		const origin = { by, isRecorded: true, isCertain };
		if (before !== undefined) {
			entries = seen(entries, before, { by, isRecorded: false, isCertain: true }, keeps, tell);
		}
		if (sent === undefined) {
			removal = origin;
			tell({ origin, action: "remove document" });
			if (isCertain) entries = new Map();
			continue;
		}
		if (isCertain) removal = undefined;
		entries = written(entries, sent, origin, keeps, tell);
	}
	const present = Array.from(entries, ([key, { value, origin }]) => ({ key, value, origin }));
	return { present: present.filter(isThere), removal, events };
}

function isThere<By>(each: {
	readonly key: string;
	readonly value: JsonValue | undefined;
	readonly origin: Origin<By>;
}): each is BlamedValue<By> {
	return each.value !== undefined;
}

/** What is known once somebody looked. */
function seen<By>(
	entries: Entries<By>,
	before: Metadata,
	others: Origin<By>,
	keeps: Normalise,
	tell: Tell<By>,
): Entries<By> {
	const found = new Map<string, Entry<By>>();
	for (const [key, value] of before) {
		const entry = entries.get(key);
		const left = leftBy(entry, key, value, keeps);
		// What was seen did arrive.
		const origin = left === undefined ? others : { ...left.origin, isCertain: true };
		found.set(key, { value, origin, otherwise: undefined });
		if (left === undefined) tellChange(key, entry?.value, value, others, tell);
	}
	for (const [key, entry] of entries) {
		if (before.has(key) || leftBy(entry, key, undefined, keeps) !== undefined) continue;
		tellChange(key, entry.value, undefined, others, tell);
	}
	return found;
}

/** Which of the writes that may have been the last left that value. */
function leftBy<By>(
	entry: Entry<By> | undefined,
	key: string,
	value: JsonValue | undefined,
	keeps: Normalise,
): Entry<By> | undefined {
	for (let each = entry; each !== undefined; each = each.otherwise) {
		if (isAlike(key, each.value, value, keeps)) return each;
	}
	return undefined;
}

/** What is known once something was sent, which is the whole of what the document has then. */
function written<By>(
	entries: Entries<By>,
	sent: Metadata,
	origin: Origin<By>,
	keeps: Normalise,
	tell: Tell<By>,
): Entries<By> {
	const after = new Map<string, Entry<By>>();
	const over = (value: JsonValue | undefined, entry: Entry<By> | undefined): Entry<By> => {
		const absent: Entry<By> = { value: undefined, origin, otherwise: undefined };
		return { value, origin, otherwise: origin.isCertain ? undefined : (entry ?? absent) };
	};
	for (const [key, value] of sent) {
		const entry = entries.get(key);
		const isSame = entry !== undefined && isAlike(key, entry.value, value, keeps);
		// What may not have arrived before has arrived now.
		const isKept = isSame && (entry.origin.isCertain || !origin.isCertain);
		after.set(key, isKept ? { ...entry, value } : over(value, entry));
		if (!isSame) tellChange(key, entry?.value, value, origin, tell);
	}
	for (const [key, entry] of entries) {
		if (sent.has(key)) continue;
		tellChange(key, entry.value, undefined, origin, tell);
		if (!origin.isCertain) after.set(key, over(undefined, entry));
	}
	return after;
}

function tellChange<By>(
	key: string,
	from: JsonValue | undefined,
	to: JsonValue | undefined,
	origin: Origin<By>,
	tell: Tell<By>,
): void {
	if (from === undefined) {
		if (to !== undefined) tell({ origin, action: "add", key, to });
	} else if (to === undefined) tell({ origin, action: "remove", key, from });
	else tell({ origin, action: "change", key, from, to });
}

function isAlike(key: string, left: JsonValue | undefined, right: JsonValue | undefined, keeps: Normalise): boolean {
	if (left === undefined || right === undefined) return left === right;
	const kept = (value: JsonValue): JsonValue => keeps(new Map([[key, value]])).get(key) ?? null;
	return sameValue(left, right) || sameValue(kept(left), kept(right));
}
