import type { Metadata } from "../../json/values.ts";
import type { Mode } from "../../plan/change.ts";
import type { PlannedRemoval, PlannedUpdate } from "../../plan/plan-file/lines.ts";
import { forcedMetadata, isAsPlanned, isKeptWhenForced, keysChangedSince } from "../../plan/plan-file/planned.ts";
import { rejected, type RestError } from "../../rest/errors.ts";
import { refuseRounded, keysText } from "../documents/before-images.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { holds } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { type ById, existingDocument, seenDocuments, type PreparedUpdate } from "./prepare-update.ts";
import { mayHaveArrived, type OpenWork, type Operation, type RowAttempt, type SentLog } from "./operation.ts";
import { removeDocuments } from "./remove.ts";
import { writePrepared } from "./update.ts";

/** A row of a plan. */
type PlannedItem = Work & { readonly planned: PlannedUpdate | PlannedRemoval };
type UpdateItem = Work & { readonly planned: PlannedUpdate };

/** The rules for a planned update, by the present metadata of its document. */
export type PlannedRules = {
	/** reads each document when its row comes: only that shows a change by another client */
	readonly documents: ById;
	/** how a document that was changed since is written; undefined if it is left alone */
	readonly forced: Mode | undefined;
	/** `the plan was made`: since when a change is a conflict */
	readonly since: string;
	/** whether a row is done only when the document has exactly what is planned, and not what the service normalises to that */
	readonly isExact: boolean;
};

/** The code of a row whose document another client changed since. */
export const CONFLICT = "CONFLICT";

/**
 * Computes what a planned update sends to its document. It writes nothing.
 *
 * @throws RestError where the document is not there, or of code `CONFLICT` where another client changed it since
 */
export async function preparePlannedUpdate(
	service: Service,
	request: Request,
	item: UpdateItem,
	rules: PlannedRules,
): Promise<PreparedUpdate> {
	const { planned } = item;
	const document = await existingDocument({ service, request }, item, rules.documents);
	const { normalise } = service.api.dialect.flavour;
	// A document without metadata may be listed without the member.
	const present = document.metadata ?? new Map();
	const isKnown = document.isDoubted !== true;
	if (isKnown && holds(document, planned.metadata, rules.isExact ? (metadata) => metadata : normalise)) {
		return { document, present, metadata: planned.metadata, isSame: true };
	}
	const hashes = [planned.was, ...(planned.orWas ?? [])];
	if (hashes.some((was) => isAsPlanned(was, present, normalise, document.inexact))) {
		return { document, present, metadata: planned.metadata, isSame: false };
	}
	const { forced } = rules;
	if (forced === undefined) {
		throw conflict(service, item, rules.since, keysChangedSince(planned, present, normalise));
	}
	refuseRounded(service, item.documentId, document, (key) => isKeptWhenForced(forced, planned, key));
	const metadata = forcedMetadata(forced, planned, present);
	return { document, present, metadata, isSame: holds(document, metadata, normalise) };
}

/**
 * The metadata of a document that a plan removes; undefined if it is gone already. It writes nothing.
 *
 * @throws RestError of code `CONFLICT` where another client changed it since
 */
export async function preparePlannedRemoval(
	service: Service,
	request: Request,
	item: PlannedItem,
	rules: PlannedRules,
): Promise<Metadata | undefined> {
	const { datasetId, documentId } = item;
	const api = await service.known(request);
	const document = await rules.documents.byId(api, request, datasetId, documentId);
	if (document === undefined) return undefined;
	const changed = conflictOfRemoval(service, item, rules, document);
	if (changed !== undefined) throw changed;
	return document.metadata ?? new Map();
}

/** The error of a planned removal whose document another client changed since. */
function conflictOfRemoval(
	service: Service,
	item: PlannedItem,
	rules: PlannedRules,
	{ metadata: present = new Map(), inexact }: RemoteDocument,
): RestError | undefined {
	// A document without metadata was stored and never tagged, so nothing of another client can be lost.
	const { normalise } = service.api.dialect.flavour;
	if (present.size === 0 || isAsPlanned(item.planned.was, present, normalise, inexact)) return undefined;
	return rules.forced === undefined ? conflict(service, item, rules.since) : undefined;
}

type ApplyOptions<Item extends PlannedItem> = {
	readonly log: SentLog;
	/** comes before the removal of a document, unless that was sent already */
	readonly beforeRemoval?: (item: Item, request: Request) => Promise<void>;
};

/** Does what a plan says, to each document that no other client changed since. */
export function applyPlanned<Item extends PlannedItem>(
	service: Service,
	rules: PlannedRules,
	{ log, beforeRemoval }: ApplyOptions<Item>,
): Operation<Item> {
	const judgedIn = (attempt: RowAttempt): PlannedRules => ({
		...rules,
		documents: seenDocuments(rules.documents, attempt),
	});
	// If an earlier attempt was sent and its answer was lost, this run itself may have changed the document.
	const isOurs = ({ item, memory }: OpenWork): boolean =>
		mayHaveArrived(memory) || memory.isLogged === true || log.earlier(item.index) !== undefined;
	const remove = removeDocuments<Item>(service, {
		log,
		before: async (row, request) => {
			const { item } = row;
			if (!isOurs(row)) await beforeRemoval?.(item, request);
			// Checked although this run has sent it: another client may have changed the document meanwhile.
			const judged = judgedIn({ ...row, service, request, log });
			const present = await preparePlannedRemoval(service, request, item, judged);
			if (present !== undefined || isOurs(row)) return undefined;
			return { status: "unchanged", documentId: item.documentId };
		},
		// Several are listed anew, right before they are removed.
		refuse: (item, document) => conflictOfRemoval(service, item, rules, document),
	});
	const update = writePrepared<UpdateItem>({
		service,
		log,
		prepare: (attempt) => preparePlannedUpdate(service, attempt.request, attempt.item, judgedIn(attempt)),
		onlyChanged: true,
	});
	const apply: Operation<Item> = (item, request, memory) => {
		const { planned } = item;
		if (planned.action === "remove") return remove(item, request, memory);
		return update({ ...item, planned }, request, memory);
	};
	return Object.assign(apply, {
		groupOf: (row: OpenWork<Item>) => (row.item.planned.action === "remove" ? remove.groupOf(row) : undefined),
	});
}

function conflict(service: Service, { documentId }: Work, since: string, keys: readonly string[] = []): RestError {
	const which = keys.length === 0 ? "" : ` (keys: ${keysText(service, keys)})`;
	return rejected(CONFLICT, `document ${service.show(documentId)} was changed since ${since}${which}; left alone`);
}
