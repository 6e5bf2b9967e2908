import type { BodyForm } from "../../body-forms.ts";
import type { Metadata } from "../../json/values.ts";
import { metadataLost, RestError } from "../../rest/errors.ts";
import type { Dialect, Document, Echo } from "../../rest/types.ts";
import { answeredInOtherCase, findDocument, OTHER_CASE } from "../documents/find-document.ts";
import type { DatasetAccess } from "../documents/list.ts";
import { REFUSE } from "../documents/searches.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { readBack } from "../retry/retry.ts";
import type { Request } from "../types.ts";
import {
	type Arrival,
	arrivalOf,
	hasAlready,
	isArrived,
	isRefusal,
	MERGES,
	notArrived,
	type Refused,
	refuseValues,
	unremoved,
} from "./arrival.ts";
import { errorForGivenFlavour } from "./detect-flavour.ts";
import type { WeakRow } from "./canary.ts";
import type { Service } from "./service.ts";

export type Write = { readonly datasetId: string; readonly documentId: string; readonly metadata: Metadata };

/** The memory of one write's attempts. */
export type WriteMemory = {
	/** the document as it was before the first of them */
	before?: { readonly document: RemoteDocument | undefined };
	/** reads it with others, where many rows may change nothing */
	readBefore?: () => Promise<RemoteDocument | undefined>;
	/** verb and form of the update that may have been applied; of `several` such updates, a read-back proves none */
	sentAs?: string;
	/** an update was refused after which the document may have other metadata */
	maybeWritten?: boolean;
};

/** RAGFlow's code for every exception of a route: a body that it can't read, and a database that went away after the write. */
const EXCEPTION = "CODE_100";

/** An attempt of one write, in one dialect. */
type Attempt = DatasetAccess & {
	readonly service: Service;
	readonly write: Write;
	readonly memory: WriteMemory;
};

/**
 * Writes the metadata of one document. An attempt of a row begins it again in another dialect.
 *
 * Until an update was seen to arrive at this address, each is read back, and no success counts before: some servers answer
 * "success" to a form of the update that changes nothing.
 *
 * @throws RestError, of kind `not_the_api` where an update succeeds and does not arrive in any form
 */
export async function writeMetadata(
	service: Service,
	request: Request,
	write: Write,
	memory: WriteMemory,
): Promise<void> {
	for (;;) {
		const { api, canary } = service;
		refuseValues(service, write.metadata);
		const attempt: Attempt = { service, api, request, datasetId: write.datasetId, write, memory };
		try {
			if (canary.trustsSuccess) {
				const proven = canary.echo;
				const echo = await send(attempt);
				// Nearly every row ends here. The canary is checked again, as another row may have revoked it.
				if (echo === proven && canary.echo === proven && service.api === api) return;
				if (proven === undefined && canary.isUnreadable) return;
				if (proven !== undefined && echo !== proven) await service.otherEcho(api, request);
			} else if (await writeAsCanary(attempt)) return;
		} catch (error) {
			throw errorForGivenFlavour(error, service, api);
		}
	}
}

/** Sends an update. @throws its error in words of this row */
async function send({ api, request, write, memory }: Attempt): Promise<Echo> {
	try {
		const echo = await request(() => api.updateMetadata(write.datasetId, write.documentId, write.metadata));
		noteSent(memory, api.dialect);
		return echo;
	} catch (error) {
		// A run that ends before the request's turn has sent nothing.
		if (!(error instanceof RestError)) throw error;
		if (!error.isRefusal) noteSent(memory, api.dialect);
		else if (error.code === EXCEPTION) memory.maybeWritten = true;
		if (error.code !== OTHER_CASE) throw error;
		throw answeredInOtherCase(error, memory.before?.document !== undefined);
	}
}

/** Notes that an update in that dialect may have been applied. */
function noteSent(memory: WriteMemory, { flavour, form }: Dialect): void {
	const sentAs = `${flavour.update.verb} ${form}`;
	memory.sentAs = memory.sentAs === undefined || memory.sentAs === sentAs ? sentAs : "several";
}

/** Writes and reads back. Resolves with false where the canary or the dialect changed meanwhile. */
async function writeAsCanary(attempt: Attempt): Promise<boolean> {
	const { service, api } = attempt;
	const { canary } = service;
	const { hasWeakRow } = canary;
	// A write that proves little needs no turn of its own.
	const written = hasWeakRow && (await canary.check(() => writeWeak(attempt)));
	if (written !== false) return written === true;
	return canary.alone(async () => {
		if (canary.trustsSuccess || service.api !== api) return false;
		// A row before this one has proved little. If this one does the same, it needs no turn of its own.
		if (canary.hasWeakRow && !hasWeakRow && (await weaknessOf(attempt)) !== undefined) return false;
		return writeInEveryForm(attempt);
	});
}

/** Writes a row that proves little; false where it proves more or does not arrive, undefined where the dialect changed. */
async function writeWeak(attempt: Attempt): Promise<boolean | undefined> {
	const { service, api, write } = attempt;
	const kind = await weaknessOf(attempt);
	if (kind === undefined) return false;
	if (service.api !== api) return undefined;
	try {
		await send(attempt);
	} catch (error) {
		if (isRefusal(error)) return false;
		throw error;
	}
	if (service.canary.hasSample(kind)) return true;
	const after = (await findDocument(attempt, write.documentId))?.metadata;
	if (after === undefined || !hasAlready(after, write.metadata, api.dialect.flavour.normalise)) return false;
	service.canary.provedLittle(kind);
	return true;
}

/** Why a row proves little; undefined where it proves that updates arrive. */
async function weaknessOf(attempt: Attempt): Promise<WeakRow | undefined> {
	const { api, write } = attempt;
	const before = await metadataBefore(attempt);
	if (before === undefined) return undefined;
	if (hasAlready(before, write.metadata, api.dialect.flavour.normalise)) return "unchanged";
	return write.metadata.size === 0 ? "cleared" : undefined;
}

/** The document's metadata before its first attempt; undefined if no list shows it. */
async function metadataBefore(attempt: Attempt): Promise<Metadata | undefined> {
	const { service, write, memory } = attempt;
	const { hasWeakRow, echo } = service.canary;
	// Where an earlier run saw an update arrive, only a sample is read: a list of the dataset would cost more.
	const read = hasWeakRow && echo === undefined ? memory.readBefore : undefined;
	memory.before ??= { document: await (read?.() ?? findDocument(attempt, write.documentId)) };
	const { document } = memory.before;
	// A document without metadata may be listed without the member.
	return document === undefined ? undefined : (document.metadata ?? new Map());
}

/** Sends one body form after another until one arrives. Resolves with false where the service is of another flavour. */
async function writeInEveryForm(attempt: Attempt): Promise<boolean> {
	const { service, api, request, write, memory } = attempt;
	const before = await metadataBefore(attempt);
	const { flavour } = api.dialect;
	const proven = service.canary.echo;
	const succeeded: BodyForm[] = [];
	const refused: Refused[] = [];
	let lost: Arrival | undefined;
	for (const form of service.forms) {
		const spoken = form === api.dialect.form ? api : api.as({ flavour, form });
		let result: Result | undefined;
		try {
			result = await sendAndReadBack({ ...attempt, api: spoken }, before);
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			if (error.kind === "contradiction") {
				if (await service.redetect(api, request, error)) return false;
			} else if (!isRefusal(error)) throw error;
			refused.push({ form, error });
			continue;
		}
		succeeded.push(form);
		if (result === undefined) return true;
		const { arrival, echo } = result;
		if (isArrived(arrival)) {
			// Another release answers than the remembered one.
			if (proven !== undefined && echo !== proven && (await service.otherEcho(api, request))) return false;
			if (arrival === "merged") service.note(MERGES);
			if (before === undefined) return true;
			const kind = await weaknessOf(attempt);
			if (kind !== undefined) service.canary.provedLittle(kind);
			// An earlier form may have arrived late.
			if (kind === undefined && memory.sentAs !== "several") await service.confirmed(spoken, echo);
			else if (kind !== "unchanged") service.prefer(spoken);
			return true;
		}
		// A service that merges changes nothing then, which proves nothing and ends no run.
		const kept = arrival === "unchanged" && service.forms.length === 1 ? unremoved(service, write, before) : undefined;
		service.canary.keepsKeys ||= kept !== undefined;
		if (kept !== undefined) throw kept;
		lost = arrival === "different" ? arrival : (lost ?? arrival);
		// Also where an earlier run saw this form arrive.
		service.canary.revoke();
	}
	const [first] = refused;
	// The form that this service is known or documented to take refuses the row. That it ignores others means nothing.
	const isRowRefused = first?.form === api.dialect.form && lost === "unchanged";
	if (first !== undefined && (lost === undefined || isRowRefused)) throw first.error;
	// The form arrived before, so the loss may concern this row alone. The next one is read back, too.
	if (proven !== undefined) service.canary.remembered(proven);
	throw notArrived(service.show(write.documentId), { succeeded, lost, refused, isProven: proven !== undefined });
}

type Result = { readonly arrival: Arrival; readonly echo: Echo };

/** Sends one form and reads the document back. Resolves with undefined where no list shows its metadata. */
async function sendAndReadBack(attempt: Attempt, before: Metadata | undefined): Promise<Result | undefined> {
	const { service, api, request, write } = attempt;
	const { flavour } = api.dialect;
	const echo = await send(attempt);
	let arrival: Arrival | undefined;
	let document: Document | undefined;
	// Until it shows metadata, nothing is known of what was written.
	const sure = write.metadata.size === 0 ? request : service.searches.believing(request, REFUSE);
	const isShown = async (): Promise<boolean> => {
		document = await findDocument({ ...attempt, request: sure }, write.documentId);
		if (document?.metadata === undefined) return false;
		service.canary.listed();
		const seen = { before, sent: write.metadata, after: document.metadata };
		arrival = arrivalOf(seen, flavour.normalise, flavour.hasSearchEngine);
		if (isArrived(arrival)) return true;
		// It was waited for once. With each row a wait, the undo of 200 rows would take ten minutes.
		return service.canary.keepsKeys && arrival === "unchanged" && unremoved(service, write, before) !== undefined;
	};
	await readBack(isShown, service);
	if (document?.metadata?.size === 0 && flavour.showsMetadata === true) throw metadataLost(write);
	if (arrival !== undefined) return { arrival, echo };
	if (document !== undefined) service.unreadable(api, "the list shows no metadata", true);
	else {
		const why = `the list does not show document ${service.show(write.documentId)}`;
		service.unreadable(api, why, service.canary.unlisted());
	}
	return undefined;
}
