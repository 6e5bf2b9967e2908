import { stat } from "node:fs/promises";
import { reason } from "../../errors.ts";
import { DATABASE_AWAY, rejected, RestError } from "../../rest/errors.ts";
import type { StoredFile, UploadFile } from "../../rest/types.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument } from "../documents/find-document.ts";
import type { DatasetAccess } from "../documents/list.ts";
import { findNamesakes } from "../documents/find-named.ts";
import { readBack, RetryLater } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import { durationText } from "../stop/reasons.ts";
import { SUPERSEDED } from "../types.ts";
import { isNumbered, possibleCopies } from "./namesakes.ts";
import { type Memory, refuseNewer, type RowAttempt, type Stored } from "./operation.ts";
import type { UpdateItem } from "./prepare-update.ts";

/** The shortest time in which a service may store a file after its answer was lost, in milliseconds. */
const SHORTEST_SETTLE_TIME = 10_000;

/** Shares of the settle time after which an upload is searched for again. The last search comes when all of it is over. */
const SEARCHES = [0.1, 0.4, 1];

const MAYBE_STORED = "the file may have been stored: check with docs list --name before uploading it again";

const LEFT_ALONE = `nothing was written onto that document, and undo leaves it alone; ${MAYBE_STORED}`;

export type UploadItem = UpdateItem & {
	readonly file: Omit<UploadFile, "size">;
	/** the document whose place the file takes, where that is known */
	readonly replaces?: string | undefined;
	/** with `replaces`: the metadata is all that the new document has, and not only laid over that of the old one */
	readonly isWhole?: boolean | undefined;
};

/** A dataset, with what is known of its service. */
export type KnownDataset = DatasetAccess & Pick<RowAttempt, "service">;

/** An attempt of an upload, in one dialect. */
export type UploadAttempt = RowAttempt<UploadItem> &
	DatasetAccess & {
		readonly settling: Settling;
		/** the documents that have a file's name already, and those that were there before the uploads */
		readonly documents: Pick<DocumentSource, "byName" | "now" | "wasListed">;
	};

/**
 * Sends the file once. Where the answer does not say whether it was stored, the list does: a document that is there now, and
 * was not there before, is the file, and it is never sent again. It is searched for until the settle time is over.
 *
 * @throws RetryLater before that
 */
export async function storeFile(attempt: UploadAttempt, file: UploadFile): Promise<StoredFile> {
	const { api, request, datasetId, memory, settling } = attempt;
	if (memory.maybeStored === undefined) {
		try {
			return await request(() => api.uploadDocument(datasetId, file));
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			memory.maybeStored = uploadStateAfter(error, attempt);
		}
	}
	const { error, definite } = memory.maybeStored;
	const found = await findUploadedSince(attempt, file).catch((failure: unknown) => {
		// The list may fail for the same reason. The row's next attempt searches again, and still sends nothing.
		if (failure instanceof RestError && isTemporary(failure)) throw unsettled(failure);
		if (failure instanceof RestError && failure.code === SUPERSEDED) throw failure;
		return undefined;
	});
	if (found !== undefined) return found;
	if (definite) throw error;
	settling.notFound(memory);
	throw rejected("UNKNOWN_OUTCOME", `${error.message}; ${MAYBE_STORED}`, { status: error.status, cause: error });
}

/** The state of a file whose upload failed. @throws the error if it is settled, or if the next attempt searches */
function uploadStateAfter(error: RestError, { api, memory }: UploadAttempt): NonNullable<Memory["maybeStored"]> {
	const definite = error.code === "CODE_500" && api.dialect.flavour.uploadCode500 === "definite";
	// A proxy may have passed the request on before it answered. An exception may follow an applied upload.
	if (["throttled", "not_the_api", "untrusted", "doubted"].includes(error.kind)) memory.isSearchDue = true;
	if (error.kind === "contradiction" && error.code === "CODE_100") memory.isSearchDue = true;
	// The answer is complete: a file that is not stored by now will not be.
	if (error.code === DATABASE_AWAY) {
		memory.isSearchDue = true;
		throw error;
	}
	// The answer names a document, so the file is stored, if not as a whole.
	if (error.code === "SIZE_MISMATCH") memory.maybeStored = { error, definite: false };
	if (error.kind !== "ambiguous" && !definite) throw error;
	return { error, definite };
}

function isTemporary({ kind }: RestError): boolean {
	return kind === "not_sent" || kind === "ambiguous" || kind === "throttled" || kind === "doubted";
}

/** The same failure, with a message for a last attempt: a row must not fail as if nothing had been sent. */
function unsettled(failure: RestError): RestError {
	const { kind, code, retryAfter, status } = failure;
	return new RestError(`${failure.message}; ${MAYBE_STORED}`, { kind, code, retryAfter, status, cause: failure });
}

/**
 * The document that an upload made although its answer was lost or says otherwise: it is new, and has the file's name
 * and size. It is read now, as an earlier list can't show the new document.
 */
export async function findUploadedSince(attempt: UploadAttempt, file: UploadFile): Promise<StoredFile | undefined> {
	const known = new Set(attempt.memory.namesakes);
	const same = await findNamesakes(attempt, file.name);
	// Where a document had its name before, the file was stored under a number.
	const copies = known.size === 0 ? [] : await possibleCopies(attempt, file.name);
	const made = [...same, ...copies].filter(
		({ id, size }) => !known.has(id) && (size === undefined || size === file.size),
	);
	const [only] = made;
	if (made.length !== 1 || only === undefined) return undefined;
	// A newer run may have uploaded it: then this run must neither take it for its own, nor store the file once more.
	refuseNewer(attempt.log, attempt.item, only.id);
	return { id: only.id, name: only.name, size: only.size };
}

/**
 * The file with its size, which is read when its row comes: a manifest may be long, and a file may change meanwhile. It must
 * be there until it is stored, and no longer.
 */
export async function sized({ file }: UploadItem): Promise<UploadFile> {
	try {
		return { ...file, size: (await stat(file.path)).size };
	} catch (error) {
		throw unreadable(error);
	}
}

/** The error of a row whose file can't be read. */
export function unreadable(error: unknown): RestError {
	return rejected("FILE_UNREADABLE", `the file can't be read: ${reason(error)}`, { cause: error });
}

/**
 * Checks the answer to an upload: its id must be new, and a list must show the first document of a run.
 *
 * @throws RestError before anything is written onto a document of another client: of kind `not_the_api` until an upload was
 * confirmed, then the row alone fails
 */
export async function checkUploadAnswer(attempt: UploadAttempt, stored: StoredFile): Promise<void> {
	const { service, api, request, datasetId, memory, documents } = attempt;
	const { canary } = service;
	const { id, name } = stored;
	const answered = `the service answered the upload of ${service.show(name)} with document ${service.show(id)}`;
	const refusal = (text: string): RestError =>
		new RestError(text, { kind: canary.isUploadConfirmed ? "rejected" : "not_the_api", code: "NOT_STORED" });
	const refuseOther = (listed: string): void => {
		// Some services answer with the name that was sent, and list the number that they gave it.
		const [sent, found] = [name.normalize(), listed.normalize()];
		if (sent === found || isNumbered(sent, found)) return;
		throw refusal(`${answered}, which is ${service.show(listed)}; ${LEFT_ALONE}`);
	};
	const wasThere = (memory.namesakes ?? []).includes(id) || documents.wasListed(datasetId, id);
	if (wasThere === true || canary.uploads.has(id)) {
		throw refusal(`${answered}, which was there before; ${LEFT_ALONE}`);
	}
	canary.uploads.add(id);
	if (!canary.isUploadConfirmed) {
		// One after another: the first confirms the uploads that wait here.
		const isFirst = await canary.alone(async () => {
			if (canary.isUploadConfirmed) return false;
			const isListed = async (): Promise<boolean> => {
				const found = await findDocument(attempt, id);
				if (found !== undefined) refuseOther(found.name);
				return found !== undefined;
			};
			if (!(await readBack(isListed, service))) throw refusal(`${answered}, and does not list it`);
			canary.isUploadConfirmed = true;
			return true;
		});
		if (isFirst) return;
	}
	// A list showed it as new, before the upload or after it.
	if (wasThere === false || memory.maybeStored !== undefined) return;
	const found = await documents.now(api, request, datasetId, id);
	if (found?.name !== undefined) refuseOther(found.name);
}

/** The error for a file that the service stored under another name. @param isSync whether its name was free a moment before */
export function renamed(service: Service, name: string, stored: Stored, isSync = false): RestError {
	const [id, storedName] = [service.show(stored.id), service.show(stored.name)];
	const isWithoutFolders = name.includes("/") && !stored.name.includes("/");
	if (isSync && !isWithoutFolders) {
		const text = `the service stored ${name} as ${storedName}, document ${id}: another client stores files of these names. docs rm --id ${id} removes it, and --adopt takes the other one over where it is equal`;
		return rejected("RENAMED", text);
	}
	const way = isWithoutFolders ? "upload it with --names flat" : "use --on-existing upload-again";
	const text = `the service stored ${name} as ${storedName}, document ${id}; its metadata was not written. Remove it with docs rm --id ${id}, ${isWithoutFolders ? "and" : "or"} ${way}`;
	return rejected("RENAMED", text);
}

/** The times at which a file is searched for after a lost answer: a server may still be storing it. */
export class Settling {
	readonly #service: Service;
	readonly #time: number;

	/** @param timeout of one request, in milliseconds */
	constructor(service: Service, timeout: number) {
		this.#service = service;
		this.#time = Math.max(SHORTEST_SETTLE_TIME, timeout);
	}

	/**
	 * A search did not find the document. Returns when the settle time since the first search is over.
	 *
	 * @param age milliseconds since it was sent, where an earlier execution sent it
	 * @throws RetryLater before that: the row waits, and holds no place in flight
	 */
	notFound(memory: Memory, age = 0): void {
		const { clock } = this.#service;
		const isPast = (share: number): boolean => share * this.#time <= age;
		memory.settling ??= { since: clock.now() - age, searches: SEARCHES.filter(isPast).length };
		const { since, searches } = memory.settling;
		const share = SEARCHES[searches];
		if (share === undefined) return;
		memory.settling = { since, searches: searches + 1 };
		const time = durationText(this.#time);
		const text = `The outcome of an upload is not known: the service may still be storing the file. Each such file is searched for again, for ${time}.`;
		this.#service.noteOnce("SETTLING", text);
		throw new RetryLater(Math.max(0, since + share * this.#time - clock.now()));
	}
}
