import { type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import type { Normalise } from "../rest/flavours.ts";

/** One write to a document. `By` is what identifies a write. */
export type BlamedWrite<By> = {
	readonly by: By;
	/** the whole metadata that was sent; undefined for a removal */
	readonly sent: Metadata | undefined;
	/** what the document had before; undefined where that is not known */
	readonly before: Metadata | undefined;
	/** whether it certainly was applied */
	readonly isCertain: boolean;
};

/** The origin of a value or an event. */
type Origin<By> = {
	/** the write that caused it, or the first write whose before-image has it */
	readonly by: By;
	/** false for changes by other clients, which no run recorded */
	readonly isRecorded: boolean;
	readonly isCertain: boolean;
};

/** A present value, a change of a key, or the removal of the document. */
export type BlamedLine<By> = {
	readonly origin: Origin<By>;
	/** undefined for the whole document */
	readonly key?: string | undefined;
	/** undefined for a present value */
	readonly action?: "add" | "change" | "remove" | "remove document" | undefined;
	readonly from?: JsonValue | undefined;
	/** the present value, or that after the change */
	readonly to?: JsonValue | undefined;
};

type Blame<By> = {
	/** the origin of each present value, in the order in which they were sent, and of the document's removal */
	readonly present: readonly BlamedLine<By>[];
	/** all changes, the oldest first */
	readonly events: readonly BlamedLine<By>[];
};

/**
 * Which write set each value that a document has now, as far as the recorded writes show.
 *
 * A write that leaves a value unchanged leaves its origin unchanged, too. A before-image with a value that no earlier write
 * sent means that another client set it.
 *
 * @param writes all that are known, the oldest first
 * @param normalise what the service makes of the metadata that it is sent: its own changes have no origin
 */
export function blame<By>(writes: readonly BlamedWrite<By>[], normalise: Normalise = (sent) => sent): Blame<By> {
	const events: BlamedLine<By>[] = [];
	let entries: ReadonlyMap<string, Entry<By>> = new Map();
	let removal: Origin<By> | undefined;

	/** Whether two values are equal, as they are or as the service normalises them. */
	const isAlike = (key: string, left: JsonValue | undefined, right: JsonValue | undefined): boolean => {
		if (left === undefined || right === undefined) return left === right;
		const kept = (value: JsonValue): JsonValue => normalise(new Map([[key, value]])).get(key) ?? null;
		return sameValue(left, right) || sameValue(kept(left), kept(right));
	};

	/** Which of the writes that may have been the last set that value. */
	const causeOf = (key: string, value: JsonValue | undefined): Entry<By> | undefined => {
		for (let each = entries.get(key); each !== undefined; each = each.otherwise) {
			if (isAlike(key, each.value, value)) return each;
		}
		return undefined;
	};

	/** Records that a key has another value than its entry, or that it has none any more. */
	const record = (key: string, to: JsonValue | undefined, origin: Origin<By>): void => {
		const from = entries.get(key)?.value;
		// A write in doubt may have left the key out before.
		if (from === undefined && to === undefined) return;
		const action = from === undefined ? "add" : to === undefined ? "remove" : "change";
		events.push({ origin, action, key, from, to });
	};

	/** A before-image shows what the document has. @param others the origin of what no earlier write explains */
	const observe = (before: Metadata, others: Origin<By>): void => {
		const found = new Map<string, Entry<By>>();
		for (const [key, value] of before) {
			const cause = causeOf(key, value);
			// A write whose value is there was applied.
			const origin = cause === undefined ? others : { ...cause.origin, isCertain: true };
			found.set(key, { value, origin, otherwise: undefined });
			if (cause === undefined) record(key, value, others);
		}
		for (const key of entries.keys()) {
			if (!before.has(key) && causeOf(key, undefined) === undefined) record(key, undefined, others);
		}
		entries = found;
	};

	/** A write sends the whole metadata that the document has afterwards. */
	const write = (sent: Metadata, origin: Origin<By>): void => {
		if (origin.isCertain) removal = undefined;
		const after = new Map<string, Entry<By>>();
		const over = (value: JsonValue | undefined, entry: Entry<By> | undefined): Entry<By> => {
			const absent: Entry<By> = { value: undefined, origin, otherwise: undefined };
			return { value, origin, otherwise: origin.isCertain ? undefined : (entry ?? absent) };
		};
		for (const [key, value] of sent) {
			const entry = entries.get(key);
			const isSame = entry !== undefined && isAlike(key, entry.value, value);
			// A certain write is the origin even of a value that an earlier write in doubt sent.
			const isKept = isSame && (entry.origin.isCertain || !origin.isCertain);
			after.set(key, isKept ? { ...entry, value } : over(value, entry));
			if (!isSame) record(key, value, origin);
		}
		for (const [key, entry] of entries) {
			if (sent.has(key)) continue;
			record(key, undefined, origin);
			if (!origin.isCertain) after.set(key, over(undefined, entry));
		}
		entries = after;
	};

	for (const { by, sent, before, isCertain } of writes) {
		if (before !== undefined) observe(before, { by, isRecorded: false, isCertain: true });
		const origin = { by, isRecorded: true, isCertain };
		if (sent !== undefined) write(sent, origin);
		else {
			removal = origin;
			events.push({ origin, action: "remove document" });
			if (isCertain) entries = new Map();
		}
	}
	const present = Array.from(entries, ([key, { value: to, origin }]): BlamedLine<By> => ({ key, to, origin }));
	const removed = removal === undefined ? [] : [{ origin: removal }];
	return { present: [...present.filter(({ to }) => to !== undefined), ...removed], events };
}

/** The known writes of a key. */
type Entry<By> = {
	/** undefined where the document has no such key */
	readonly value: JsonValue | undefined;
	readonly origin: Origin<By>;
	/** for a write in doubt: what the document has if it was not applied */
	readonly otherwise: Entry<By> | undefined;
};
