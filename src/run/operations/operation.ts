import type { Metadata } from "../../json/values.ts";
import type { RestError } from "../../rest/errors.ts";
import type { BeforeImage } from "../documents/before-images.ts";
import type { Service } from "../service/service.ts";
import type { WriteMemory } from "../service/write.ts";
import type { Request, RowStatus, Work } from "../types.ts";
import type { SentLog } from "./sent-log.ts";

/** The result of a row that succeeded. */
export type Settled = {
	readonly status: Exclude<RowStatus, "failed">;
	readonly documentId: string;
	readonly storedName?: string | undefined;
	/** it was sent, and the document had it already */
	readonly isSame?: boolean | undefined;
};

/** The memory of a row's attempts, so that a retry repeats no step that must not be repeated. */
export type Memory = WriteMemory & {
	/** an upload's document, once it is stored */
	stored?: { readonly id: string; readonly name: string } | undefined;
	/** ids of the documents that had an upload's name before it was sent */
	namesakes?: readonly string[];
	/** the document's name, once the service has shown it */
	name?: string | undefined;
	/** this execution has recorded what is sent */
	isLogged?: boolean;
	/** the document's metadata before the first attempt: a later read may see what an earlier attempt wrote */
	beforeImage?: BeforeImage;
	/** an update was refused, and the service may have removed what the document had */
	maybeLost?: boolean;
	/** the metadata that was recorded last: a merge that is computed again may send another */
	logged?: Metadata;
	/** an upload was sent, and its answer does not say whether it was stored; `definite` where it says that it was not */
	maybeStored?: { readonly error: RestError; readonly definite: boolean };
	/** the number of searches that did not find such an upload, and the time of the first, by the run's clock */
	settling?: { readonly since: number; readonly searches: number };
	/** an upload was sent and may be stored: the next attempt searches for it before it sends anything */
	isSearchDue?: boolean;
	/** another document of the dataset, which a removal must leave there */
	neighbour?: string | undefined;
	/** a removal may have been applied although its answer was lost */
	maybeRemoved?: boolean;
	/** its document is removed together with others, or `alone`, as that could not settle it */
	batch?: "waiting" | "alone" | undefined;
	/** its removal was answered with success, and is confirmed together with others */
	isRemovedTogether?: boolean;
};

/** Whether anything that the attempts of a row sent may have been applied. */
export function mayHaveArrived(memory: Memory): boolean {
	const { sentAs, maybeWritten, maybeLost, stored, maybeStored, isSearchDue, maybeRemoved } = memory;
	if (stored !== undefined || maybeStored !== undefined) return true;
	if (maybeWritten === true || maybeLost === true || isSearchDue === true || maybeRemoved === true) return true;
	return sentAs !== undefined;
}

/**
 * One attempt of one row. Every request in it goes through `request`, so that each takes its own token.
 *
 * @throws RestError, which the retry policy decides about
 * @throws RetryLater if only a later check can show whether the request was applied
 * @throws RetryTogether if one check can show it for many rows
 */
export type Operation<Item extends Work> = ((item: Item, request: Request, memory: Memory) => Promise<Settled>) & {
	/** codes that many of its rows may end with, although the service refuses none: they end no run */
	readonly expected?: ReadonlySet<string>;
	/** learns of rows that come next, before any of them begins */
	readonly coming?: (items: readonly Item[]) => void;
};

/** An attempt of a row, for the steps of an operation. */
export type RowAttempt<Item extends Work = Work> = {
	readonly service: Service;
	readonly request: Request;
	readonly item: Item;
	readonly memory: Memory;
	readonly log: SentLog;
};
