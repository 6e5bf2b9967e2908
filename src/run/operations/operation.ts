import type { Metadata } from "../../json/values.ts";
import type { RowStatus } from "../../outcomes.ts";
import { rejected, type RestError } from "../../rest/errors.ts";
import type { StoredFile } from "../../rest/types.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import type { SentRecord } from "../journal/records.ts";
import type { RowNumbers } from "../journal/row-states.ts";
import type { BeforeImage } from "../documents/before-images.ts";
import type { Service } from "../service/service.ts";
import type { WriteMemory } from "../service/write.ts";
import type { Outcome, Request, RowError, WhichDocument, Work } from "../types.ts";

/** The result of a row that succeeded. */
export type Settled = Pick<Outcome, "documentId" | "storedName" | "replaces" | "isSame"> & {
	readonly status: Exclude<RowStatus, "failed">;
};

/** The document of a stored file. */
export type Stored = Pick<StoredFile, "id" | "name">;

/** The memory of a row's attempts, so that a retry repeats no step that must not be repeated. */
export type Memory = WriteMemory & {
	/** an upload's document, once it is stored */
	stored?: Stored | undefined;
	/** ids of the documents that had an upload's name before it was sent */
	namesakes?: readonly string[];
	/** the name that an upload is sent under, where it gets its own by a rename */
	sentName?: string | undefined;
	/** bytes of an upload's file when it was sent: it may have changed since, or be gone */
	sentSize?: number | undefined;
	/** the document's name, once the service has shown it */
	name?: string | undefined;
	/** this execution has recorded what is sent */
	isLogged?: boolean;
	/** the document's metadata before the first attempt: a later read may see what an earlier attempt wrote */
	beforeImage?: BeforeImage;
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
	/** an upload whose document takes the place of another */
	replacing?: Replacing | undefined;
	/** the result of a row whose document is parsed after it, and the attempts to parse it */
	settled?: Settled;
	parse?: Memory;
};

/** A document that is replaced, over the attempts of its row. */
export type Replacing = {
	/** its id */
	readonly old: string;
	/** what the new document is to have, as it was recorded; what the old one has later counts more */
	readonly metadata: Metadata;
	/** the attempts to remove the old document */
	readonly removal: Memory;
	/** the bytes of the new document were compared with those of the file */
	isProven?: boolean;
	/** the new document is parsed as the old one, and as hidden as that */
	isParsingCopied?: boolean;
	/** what the new document was seen to have */
	written?: Metadata;
	/** the new document is done, so that questions find it before the old one is removed */
	isParsed?: boolean;
	isRemoved?: boolean;
};

/** Whether anything that the attempts of a row sent may have been applied. */
export function mayHaveArrived(memory: Memory): boolean {
	const { sentAs, maybeWritten, stored, maybeStored, isSearchDue, maybeRemoved } = memory;
	if (sentAs !== undefined || stored !== undefined || maybeStored !== undefined) return true;
	return maybeWritten === true || isSearchDue === true || maybeRemoved === true;
}

/**
 * One attempt of one row. Every request in it goes through `request`, so that each takes its own token.
 *
 * @throws RestError, which the retry policy decides about
 * @throws RetryLater if only a later check can show whether the request was applied
 */
export type Operation<Item extends Work> = ((item: Item, request: Request, memory: Memory) => Promise<Settled>) & {
	/** codes that many of its rows may end with, although the service refuses none: they end no run */
	readonly expected?: ReadonlySet<string>;
	/** learns of rows that come next, before any of them begins */
	readonly coming?: (items: readonly Item[]) => void;
	/** the group that the next attempt of a row is made in; undefined for an attempt of its own */
	groupOf?(row: OpenWork<Item>): Group<Item> | undefined;
};

/** A row, and the memory of its attempts. */
export type OpenWork<Item extends Work = Work> = { readonly item: Item; readonly memory: Memory };

/** Rows that take fewer requests where one attempt is made of all of them. */
export type Group<Item extends Work = Work> = {
	/** rows with which an attempt begins; unless given, it begins when no other row can be sent */
	readonly most?: number;
	/** Begins one attempt of these rows */
	begin(rows: readonly OpenWork<Item>[], request: Request): EndOfRow<Item>;
};

/** The end of one of the rows of a group, with the errors of `Operation`. */
export type EndOfRow<Item extends Work> = (row: OpenWork<Item>) => Promise<Settled>;

export type GroupedOperation<Item extends Work> = Operation<Item> & Required<Pick<Operation<Item>, "groupOf">>;

/** An operation whose rows are grouped by their datasets. @param isGrouped whether the next attempt of a row is made so */
export function grouped<Item extends Work>(
	group: Group<Item>,
	isGrouped: (row: OpenWork<Item>) => boolean = () => true,
): GroupedOperation<Item> {
	const groups = new Map<string, Group<Item>>();
	const alone: Operation<Item> = (item, request, memory) => {
		const row = { item, memory };
		return group.begin([row], request)(row);
	};
	const groupOf = (row: OpenWork<Item>): Group<Item> | undefined => {
		if (!isGrouped(row)) return undefined;
		const { datasetId } = row.item;
		const known = groups.get(datasetId) ?? { ...group };
		groups.set(datasetId, known);
		return known;
	};
	return Object.assign(alone, { groupOf });
}

/** An attempt of a row, for the steps of an operation. */
export type RowAttempt<Item extends Work = Work> = {
	readonly service: Service;
	readonly request: Request;
	readonly item: Item;
	readonly memory: Memory;
	readonly log: SentLog;
};

/** The write that is sent for a row, as it is recorded. */
export type Sending = Omit<SentRecord, "kind" | "row" | "line" | "datasetId" | "time" | "order">;

/** What earlier executions recorded of a row whose outcome they did not record. */
export type Earlier = RowInDoubt & {
	/** milliseconds since it was sent; 0 where the row failed meanwhile, as a search for the upload found nothing */
	readonly age: number;
};

/** Records each write before it is sent, so that a killed run knows what may have arrived. */
export type SentLog = {
	/** the unsettled write of earlier executions for a row; undefined if nothing was sent */
	earlier(index: number): Earlier | undefined;
	/** resolves when the record is durable; only then the first byte may be sent */
	sending(item: Work, sending: Sending): Promise<void>;
	/** an upload was stored, and its metadata is not written yet */
	stored(item: Work, document: Stored): Promise<void>;
	/** why a row of a run that goes on may not write to a document: a newer run has touched it. None unless given */
	readonly newerRun?: ((datasetId: string, documentId: string) => RowError | undefined) | undefined;
};

/** Fails a row whose document a newer run has touched. @throws RestError */
export function refuseNewer(log: Pick<SentLog, "newerRun">, { datasetId }: Work, documentId: string): void {
	const newer = log.newerRun?.(datasetId, documentId);
	if (newer !== undefined) throw rejected(newer.code, newer.text);
}

/** The error of a row whose document its dataset does not list. @param end what was not done for that reason */
export function notInDataset(service: Service, { datasetId, documentId }: WhichDocument, end = ""): RestError {
	const text = `document ${service.show(documentId)} is not in dataset ${service.show(datasetId)}${end}`;
	return rejected("NOT_FOUND", text);
}

/**
 * A log that knows what newer runs have touched, and refuses the rows which the pass of a policy could not judge, because
 * their documents could not be read then.
 *
 * @param unseen such rows are set
 */
export function checkedLog(log: SentLog, unseen: Pick<RowNumbers, "get">, newerRun: SentLog["newerRun"]): SentLog {
	return {
		newerRun,
		earlier: (index) => log.earlier(index),
		sending: (item, sending) => {
			if (unseen.get(item.index) === 0) return log.sending(item, sending);
			const text = "its document could not be read when the policy was checked; nothing was sent";
			return Promise.reject(rejected("POLICY_UNSEEN", text));
		},
		stored: (item, document) => log.stored(item, document),
	};
}
