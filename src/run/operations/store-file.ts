import { stat } from "node:fs/promises";
import { reason } from "../../errors.ts";
import { DATABASE_AWAY, RestError } from "../../rest/errors.ts";
import type { Api, StoredFile, UploadFile } from "../../rest/types.ts";
import { readBack, RetryLater } from "../retry/retry.ts";
import { findDocument, findNamesakes } from "../documents/find-document.ts";
import type { Request, Work } from "../types.ts";
import type { Service } from "../service/service.ts";
import { isNumbered, numberedCopies } from "./namesakes.ts";
import type { Memory } from "./operation.ts";
import { durationText } from "../stop/reasons.ts";

/**
 * Sends the file once. Where the answer leaves open whether it was stored, the list tells: what is there now and was not
 * before is it, and it is never sent again. It is looked for until the settle time is over.
 *
 * @throws RetryLater before that
 */
export async function store(
	api: Api,
	request: Request,
	{ datasetId, file }: { datasetId: string; file: UploadFile },
	memory: Memory,
	settling: Settling,
): Promise<StoredFile> {
	if (memory.maybeStored === undefined) {
		try {
			return await request(() => api.uploadDocument(datasetId, file));
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			const definite = error.code === "CODE_500" && api.dialect.flavour.uploadCode500 === "definite";
			// Whatever answered instead of the API may have passed it on before, and what was thrown there may come behind it.
			if (["throttled", "not_the_api", "untrusted", "doubted"].includes(error.kind)) memory.isPutOff = true;
			if (error.kind === "contradiction" && error.code === "CODE_100") memory.isPutOff = true;
			// The whole answer: what was not stored by now will not be.
			if (error.code === DATABASE_AWAY) {
				memory.isPutOff = true;
				throw error;
			}
			// It is there, if not whole: the answer names it.
			if (error.code === "SIZE_MISMATCH") memory.maybeStored = { error, definite: false };
			if (error.kind !== "ambiguous" && !definite) throw error;
			memory.maybeStored = { error, definite };
		}
	}
	const { error, definite } = memory.maybeStored;
	const found = await findUploadedSince(api, request, { datasetId, file }, memory).catch((failure: unknown) => {
		// What took the answer may have taken the list too: the row's next try looks again, and still sends nothing.
		if (failure instanceof RestError && isPassing(failure)) throw unsettled(failure);
		return undefined;
	});
	if (found !== undefined) return found;
	if (definite) throw error;
	settling.notFound(memory);
	const text = `${error.message}; ${MAYBE_STORED}`;
	throw new RestError(text, { kind: "rejected", code: "UNKNOWN_OUTCOME", status: error.status, cause: error });
}

const MAYBE_STORED = "the file may have been stored: check with docs list --name before uploading it again";

function isPassing({ kind }: RestError): boolean {
	return kind === "not_sent" || kind === "ambiguous" || kind === "throttled" || kind === "doubted";
}

/** The same failure, with words for the case that it is the last: a row must not fail as if nothing had been sent. */
function unsettled(failure: RestError): RestError {
	const { kind, code, retryAfter, status } = failure;
	return new RestError(`${failure.message}; ${MAYBE_STORED}`, { kind, code, retryAfter, status, cause: failure });
}

/**
 * The document that an upload made although its answer says otherwise or was lost: new, of its name and of its size.
 * Asked for now: what was read before the upload can't show what it made.
 */
export async function findUploadedSince(
	api: Api,
	request: Request,
	{ datasetId, file }: { datasetId: string; file: UploadFile },
	{ namesakes = [] }: Memory,
): Promise<StoredFile | undefined> {
	const known = new Set(namesakes);
	const same = await findNamesakes(api, request, datasetId, file.name);
	// Beside a document of its name it was stored under a number.
	const copies = known.size === 0 ? [] : await numberedCopies(api, request, datasetId, file.name);
	const now = [...same, ...copies];
	const made = now.filter(({ id, size }) => !known.has(id) && (size === undefined || size === file.size));
	const [only] = made;
	return made.length === 1 && only !== undefined ? { id: only.id, name: only.name, size: only.size } : undefined;
}

/** Bytes of a file, asked when its turn has come: a manifest may be long, and a file may change meanwhile. */
export async function sizeOf(path: string): Promise<number> {
	try {
		return (await stat(path)).size;
	} catch (error) {
		throw new RestError(`the file can't be read: ${reason(error)}`, {
			kind: "rejected",
			code: "FILE_UNREADABLE",
			cause: error,
		});
	}
}

/**
 * Whether an upload's success can be true: its id is a new one, and the first of a run is there when it is asked for.
 *
 * @throws RestError, of kind `not_the_api`, before anything is written onto a document that may be another's
 */
export async function checkStored(
	service: Service,
	api: Api,
	request: Request,
	{ datasetId }: Work,
	{ id, name }: StoredFile,
	{ namesakes = [] }: Memory,
): Promise<void> {
	const [shownName, shownId] = [service.show(name), service.show(id)];
	if (namesakes.includes(id) || !service.canary.uploaded(id)) {
		const text = `the service answered the upload of ${shownName} with document ${shownId}, which was there before`;
		throw new RestError(text, { kind: "not_the_api", code: "NOT_STORED" });
	}
	if (service.canary.isUploadSeen) return;
	// One after another: what the first sees holds for those that were stored beside it.
	await service.canary.alone(() => seeStored(service, api, request, datasetId, { id, name }));
}

async function seeStored(
	service: Service,
	api: Api,
	request: Request,
	datasetId: string,
	{ id, name }: Pick<StoredFile, "id" | "name">,
): Promise<void> {
	const [shownName, shownId] = [service.show(name), service.show(id)];
	// Another upload was seen while this one waited for its turn.
	if (service.canary.isUploadSeen) return;
	const isListed = async (): Promise<boolean> => {
		const found = await findDocument(api, request, datasetId, id);
		if (found === undefined) return false;
		// Some tell the name that was sent, and list the number that they gave it.
		const [told, listed] = [name.normalize(), found.name.normalize()];
		if (told !== listed && !isNumbered(told, listed)) {
			const text = `the service answered the upload of ${shownName} with document ${shownId}, which is ${service.show(found.name)}`;
			throw new RestError(text, { kind: "not_the_api", code: "NOT_STORED" });
		}
		service.canary.uploadSeen();
		return true;
	};
	if (await readBack(isListed, service)) return;
	const text = `the service answered success to the upload of ${shownName} as document ${shownId}, and does not list it`;
	throw new RestError(text, { kind: "not_the_api", code: "NOT_STORED" });
}

/** The service has the file under another name than it was to have. */
export function renamed(
	service: Service,
	name: string,
	stored: { readonly id: string; readonly name: string },
): RestError {
	const [id, storedName] = [service.show(stored.id), service.show(stored.name)];
	const text = `the service stored ${name} as ${storedName}, document ${id}; its metadata was not written. Remove it with docs rm --id ${id}, or use --on-existing upload-again`;
	return new RestError(text, { kind: "rejected", code: "RENAMED" });
}

/** How long a service may take at least to store what it was sent after the answer was lost, in milliseconds. */
const SHORTEST = 10_000;

/** Shares of the settle time after which a document is looked for again. The last look comes when all of it is over. */
const LOOKS = [0.1, 0.4, 1];

/** The settle time of a service that may take so many milliseconds for one request. */
export function settleTime(timeout: number): number {
	return Math.max(SHORTEST, timeout);
}

/** Looks for uploads whose answers were lost: a server may still be storing a file whose client has gone. */
export class Settling {
	readonly #service: Service;
	readonly #time: number;
	#isTold = false;

	/** @param timeout of one request, in milliseconds */
	constructor(service: Service, timeout: number) {
		this.#service = service;
		this.#time = settleTime(timeout);
	}

	/**
	 * A look did not show the document. Returns when the settle time is over since the first such look.
	 *
	 * @param age milliseconds since it was sent, where that was before this execution
	 * @throws RetryLater before that: the row waits, and holds no other row up
	 */
	notFound(memory: Memory, age = 0): void {
		const { clock } = this.#service;
		const isPast = (share: number): boolean => share * this.#time <= age;
		const { since, looks } = (memory.settling ??= {
			since: clock.now() - age,
			looks: LOOKS.filter(isPast).length,
		});
		const share = LOOKS[looks];
		if (share === undefined) return;
		memory.settling = { since, looks: looks + 1 };
		this.#tell();
		throw new RetryLater(Math.max(0, since + share * this.#time - clock.now()));
	}

	#tell(): void {
		if (this.#isTold) return;
		this.#isTold = true;
		const time = durationText(this.#time);
		this.#service.note(
			`The outcome of an upload is not known: the service may still be storing the file. Each such file is searched for again, for ${time}.`,
		);
	}
}
