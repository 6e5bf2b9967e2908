import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { Api, Document, Echo } from "../../rest/types.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { readBack } from "../retry/retry.ts";
import { answeredInOtherCase, OTHER_CASE, findDocument } from "../documents/find-document.ts";
import type { Request } from "../types.ts";
import { type Arrival, arrivalOf } from "./arrival.ts";
import type { Service } from "./service.ts";
import { refuseValues } from "./values.ts";

export type Write = { readonly datasetId: string; readonly documentId: string; readonly metadata: Metadata };

/** What the tries of one write remember. */
export type WriteMemory = {
	/** the document as it was before the first of them */
	before?: { readonly document: Pick<Document, "metadata"> | undefined };
	/** `VERB FORM` of each that may have been applied: what arrives after a second such proves neither */
	sentAs?: Set<string>;
	/** RAGFlow answered with its code for an exception, which may come behind the write as well as before it */
	maybeWritten?: boolean;
};

/** RAGFlow's code for whatever its routes threw: a body that they can't read, and a database that went away behind the write. */
const EXCEPTION = "CODE_100";

/** The service does to an update what a merge would. */
const MERGES =
	"warning: this service keeps keys that an update does not have: a replace run removes none, exactly as with --mode merge";

/**
 * Writes the metadata of one document.
 *
 * Until an update was seen to arrive at this address, each is read back, and a success is not taken at its word: there
 * are servers that answer "success" to a form of the update that changes nothing.
 *
 * @throws RestError, of kind `not_the_api` where an update succeeds and does not arrive in any form
 */
export async function writeMetadata(
	service: Service,
	request: Request,
	write: Write,
	memory: WriteMemory,
): Promise<void> {
	const once = async (api: Api): Promise<boolean> => {
		refuseValues(service, write.metadata);
		if (!service.canary.believes) return prove(service, api, request, write, memory);
		const proven = service.canary.echo;
		const echo = await send(api, request, write, memory);
		if (proven === undefined) return service.canary.isUnreadable;
		if (echo !== proven) await service.answeredOtherwise(api, request);
		// What was believed when it was sent must hold still: another row may have come to doubt it meanwhile.
		return echo === proven && service.canary.echo === proven && service.api === api;
	};
	while (!(await service.speaking(request, once)));
}

async function send(api: Api, request: Request, write: Write, memory: WriteMemory): Promise<Echo> {
	const { datasetId, documentId, metadata } = write;
	const { flavour, form } = api.dialect;
	const sentAs = (memory.sentAs ??= new Set());
	try {
		const echo = await request(() => api.updateMetadata(datasetId, documentId, metadata));
		sentAs.add(`${flavour.update.verb} ${form}`);
		return echo;
	} catch (error) {
		const isDefinite = error instanceof RestError && (error.kind === "rejected" || error.kind === "contradiction");
		if (isDefinite && error.code === EXCEPTION) memory.maybeWritten = true;
		if (!isDefinite) sentAs.add(`${flavour.update.verb} ${form}`);
		if (!(error instanceof RestError) || error.code !== OTHER_CASE) throw error;
		throw answeredInOtherCase(error, memory.before?.document !== undefined);
	}
}

/** Writes and reads back. Resolves with false where the service became known otherwise meanwhile. */
async function prove(
	service: Service,
	api: Api,
	request: Request,
	write: Write,
	memory: WriteMemory,
): Promise<boolean> {
	// Of rows that change nothing none proves anything: after the first such, others need not wait for their turn.
	if (service.canary.isNothingNew && (await proveNothing(service, api, request, write, memory))) return true;
	return service.canary.alone(async () => {
		if (service.canary.believes || service.api !== api) return false;
		return proveAlone(service, api, request, write, memory);
	});
}

/** Writes what the document has already. Resolves with false where it has something else, or does not keep it. */
async function proveNothing(
	service: Service,
	api: Api,
	request: Request,
	write: Write,
	memory: WriteMemory,
): Promise<boolean> {
	const before = await read(api, request, write, memory);
	const { normalise } = api.dialect.flavour;
	if (!has(before, write, normalise)) return false;
	try {
		await send(api, request, write, memory);
	} catch (error) {
		if (isRefusal(error)) return false;
		throw error;
	}
	const after = await findDocument(api, request, write.datasetId, write.documentId);
	if (!has(after?.metadata, write, normalise)) return false;
	service.canary.nothingNew();
	return true;
}

/** What the document has before its first try; undefined where no list shows it. */
async function read(api: Api, request: Request, write: Write, memory: WriteMemory): Promise<Metadata | undefined> {
	memory.before ??= { document: await findDocument(api, request, write.datasetId, write.documentId) };
	const { document } = memory.before;
	// A document that never had any may be listed without the member.
	return document === undefined ? undefined : (document.metadata ?? new Map());
}

function has(metadata: Metadata | undefined, { metadata: sent }: Write, keeps: Normalise): boolean {
	return metadata !== undefined && arrived(arrivalOf({ before: metadata, sent, after: metadata }, keeps));
}

async function proveAlone(
	service: Service,
	api: Api,
	request: Request,
	write: Write,
	memory: WriteMemory,
): Promise<boolean> {
	const before = await read(api, request, write, memory);
	const { flavour } = api.dialect;
	const believed: BodyForm[] = [];
	const refused: Refused[] = [];
	let lost: Arrival | undefined;
	for (const form of service.forms) {
		const spoken = form === api.dialect.form ? api : api.as({ flavour, form });
		let seen: Seen | undefined;
		try {
			seen = await settle(service, spoken, request, write, memory, before);
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			if (error.kind === "contradiction") {
				if (await service.contradicted(api, request, error)) return false;
			} else if (!isRefusal(error)) throw error;
			refused.push({ form, error });
			continue;
		}
		believed.push(form);
		if (seen === undefined) return true;
		const { arrival, echo } = seen;
		if (arrived(arrival) || arrival === "merged") {
			if (arrival === "merged") service.note(MERGES);
			if (before === undefined) return true;
			if (has(before, write, flavour.normalise)) service.canary.nothingNew();
			// What an earlier form sent may have come late, and a form that loses everything takes a row of nothing well.
			else if (memory.sentAs?.size === 1 && write.metadata.size > 0) await service.proved(spoken, echo);
			else service.prefer(spoken);
			return true;
		}
		lost = arrival === "different" ? arrival : (lost ?? arrival);
		// Whatever an earlier run saw of this form.
		service.canary.doubt();
	}
	const [first] = refused;
	// The form that this service is known or documented to take refuses the row: that others are ignored says no more.
	const isOfTheRow = first?.form === api.dialect.form && lost === "unchanged";
	if (first !== undefined && (lost === undefined || isOfTheRow)) throw first.error;
	throw notArrived(service.show(write.documentId), believed, lost, refused);
}

type Refused = { readonly form: BodyForm; readonly error: RestError };

type Seen = { readonly arrival: Arrival; readonly echo: Echo };

/** Sends one form and looks what became of it. Resolves with undefined where nothing can be read back. */
async function settle(
	service: Service,
	api: Api,
	request: Request,
	write: Write,
	memory: WriteMemory,
	before: Metadata | undefined,
): Promise<Seen | undefined> {
	const { normalise } = api.dialect.flavour;
	const echo = await send(api, request, write, memory);
	let arrival: Arrival | undefined;
	let document: Document | undefined;
	const isShown = async (): Promise<boolean> => {
		document = await findDocument(api, request, write.datasetId, write.documentId);
		if (document?.metadata === undefined) return false;
		service.canary.listed();
		arrival = arrivalOf({ before, sent: write.metadata, after: document.metadata }, normalise);
		return arrived(arrival) || arrival === "merged";
	};
	await readBack(isShown, service);
	if (arrival !== undefined) return { arrival, echo };
	if (document !== undefined) service.unreadable(api, "the list shows no metadata", true);
	else {
		const why = `the list does not show document ${service.show(write.documentId)}`;
		service.unreadable(api, why, service.canary.unlisted());
	}
	return undefined;
}

function arrived(arrival: Arrival): boolean {
	return arrival === "as_sent" || arrival === "as_kept";
}

/** A refusal may be one of the form rather than of the row, as long as no form is proven. */
function isRefusal(error: unknown): boolean {
	if (!(error instanceof RestError) || ["NOT_FOUND", "FORBIDDEN", "BAD_ID", OTHER_CASE].includes(error.code))
		return false;
	return error.kind === "rejected";
}

function notArrived(
	documentId: string,
	believed: readonly BodyForm[],
	arrival: Arrival | undefined,
	refused: readonly Refused[],
): RestError {
	const found = arrival === "different" ? "what it has now is not what was sent" : "it still has what it had before";
	const forms = `the body form${believed.length === 1 ? "" : "s"} ${believed.join(", ")}`;
	const text = `the service answered success to the update of document ${documentId}, in ${forms}, and ${found}`;
	const refusals = refused.map(({ form, error }) => `; in the form ${form} it refused the update: ${error.message}`);
	return new RestError(text + refusals.join(""), {
		kind: "not_the_api",
		code: "NOT_ARRIVED",
		cause: refused[0]?.error,
	});
}
