import type { BodyForm } from "../../body-forms.ts";
import { PROXY_REFUSED, rejected, RestError } from "../../rest/errors.ts";
import { type JsonValue, type Metadata, sameValue } from "../../json/values.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { keysText } from "../documents/before-images.ts";
import { OTHER_CASE } from "../documents/find-document.ts";
import type { Service } from "./service.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";

/**
 * The state of a document after an update, by the list.
 *
 * - `as_sent`: exactly what was sent
 * - `normalised`: that, by the known rules of the service
 * - `merged`: all of it, and keys that the document had before and that were not sent
 * - `unchanged`: what it had before
 * - `different`: anything else
 */
export type Arrival = "as_sent" | "normalised" | "merged" | "unchanged" | "different";

/** What was seen of an update. */
type Seen = { readonly before: Metadata | undefined; readonly sent: Metadata; readonly after: Metadata };

/**
 * Compares the metadata that was read back with the sent one. Pure.
 *
 * @param mayHide whether a failing search may have hidden what the document had: then keys that were not sent are from there
 */
export function arrivalOf({ before: shown, sent, after }: Seen, normalise: Normalise, mayHide = false): Arrival {
	const isHidden = mayHide && shown?.size === 0;
	const before = isHidden ? new Map([...after].filter(([key]) => !sent.has(key))) : shown;
	if (sameMetadata(after, sent)) return "as_sent";
	const kept = normalise(sent);
	// Both sides are normalised, so that a slightly different rule of the service still counts as the same.
	if (sameMetadata(normalise(after), kept)) return "normalised";
	if (before !== undefined && sameMetadata(after, before)) return "unchanged";
	if (before !== undefined && sameMetadata(after, new Map([...before, ...sent]))) return "merged";
	return before !== undefined && sameMetadata(after, new Map([...before, ...kept])) ? "merged" : "different";
}

/** Whether an update would change nothing, by the known rules of the service. */
export function hasAlready(present: Metadata, sent: Metadata, normalise: Normalise): boolean {
	if (sameMetadata(present, sent)) return true;
	const [had, kept] = [normalise(present), normalise(sent)];
	// Nearly all metadata is normal, and was compared.
	return (had !== present || kept !== sent) && sameMetadata(had, kept);
}

/** Whether an update would change nothing in a document of a list. A number that came rounded is equal to none. */
export function holds({ metadata, inexact }: RemoteDocument, sent: Metadata, normalise: Normalise): boolean {
	// A document without metadata may be listed without the member.
	return inexact === undefined && hasAlready(metadata ?? new Map(), sent, normalise);
}

/** The keys that an update removes; none if it is not known what the document has. */
export function missingKeys(before: Metadata | undefined, sent: Metadata): readonly string[] {
	return before === undefined ? [] : [...before.keys()].filter((key) => !sent.has(key));
}

/** Whether two documents have the same metadata. Neither the order of keys nor that of members counts. */
export function sameMetadata(left: Metadata, right: Metadata): boolean {
	if (left.size !== right.size) return false;
	for (const [key, value] of left) {
		if (!right.has(key) || !sameValue(value, right.get(key))) return false;
	}
	return true;
}

/** Whether an update in that form reached its document. */
export function isArrived(arrival: Arrival): boolean {
	return arrival === "as_sent" || arrival === "normalised" || arrival === "merged";
}

/** The error for a document that has all of an update and still more; undefined where it lacks some. */
export function unremoved(
	service: Pick<Service, "api" | "show">,
	{ documentId, metadata }: { readonly documentId: string; readonly metadata: Metadata },
	present: Metadata | undefined,
): RestError | undefined {
	const { normalise } = service.api.dialect.flavour;
	const hasAll = present !== undefined && hasAlready(present, new Map([...present, ...metadata]), normalise);
	return hasAll ? keysKept(service, documentId, missingKeys(present, metadata)) : undefined;
}

/** The warning about a service that answers a replacement like a merge. */
export const MERGES =
	"warning: this service keeps keys that an update does not have: a replace run removes none, exactly as with --mode merge";

/** The code of a row that was written, and whose document keeps keys. */
export const KEYS_KEPT = "KEYS_KEPT";

/** The error for a document that still has keys that its update does not carry. */
export function keysKept(service: Pick<Service, "show">, documentId: string, kept: readonly string[]): RestError {
	const text = `document ${service.show(documentId)} was written, and keeps keys that were to be removed (${keysText(service, kept)}): this service keeps keys that an update does not have`;
	return rejected(KEYS_KEPT, text);
}

/** The code of an update that was answered with success, and did not arrive. */
export const NOT_ARRIVED = "NOT_ARRIVED";

/** The refusal of an update in one form. */
export type Refused = { readonly form: BodyForm; readonly error: RestError };

type Lost = {
	/** forms whose update succeeded */
	readonly succeeded: readonly BodyForm[];
	readonly lost: Arrival | undefined;
	readonly refused: readonly Refused[];
	/** whether an earlier update arrived in the first of them */
	readonly isProven: boolean;
};

/** The error for an update that succeeded, and arrived in no form. */
export function notArrived(documentId: string, { succeeded, lost, refused, isProven }: Lost): RestError {
	const found = lost === "different" ? "what it has now is not what was sent" : "it still has what it had before";
	const forms = `the body form${succeeded.length === 1 ? "" : "s"} ${succeeded.join(", ")}`;
	const text = `the service answered success to the update of document ${documentId}, in ${forms}, and ${found}`;
	const refusals = refused.map(({ form, error }) => `; in the form ${form} it refused the update: ${error.message}`);
	const cause = refused[0]?.error;
	return new RestError(text + refusals.join(""), {
		kind: isProven ? "rejected" : "not_the_api",
		code: NOT_ARRIVED,
		cause,
	});
}

/** Whether the service may have refused the form and not the row, as long as no form is proven. */
export function isRefusal(error: unknown): boolean {
	if (!(error instanceof RestError) || error.kind !== "rejected") return false;
	return !["NOT_FOUND", "FORBIDDEN", PROXY_REFUSED, "BAD_ID", OTHER_CASE].includes(error.code);
}

/**
 * Refuses the values that the service would refuse: some refuse them only after an upload, when the file is stored.
 *
 * @throws RestError where a value is of a kind that the flavour does not take
 */
export function refuseValues(service: Service, metadata: Metadata): void {
	const { flavour } = service.api.dialect;
	for (const [key, value] of metadata) {
		if (flavour.acceptsValue(value)) continue;
		const text = `the value of ${JSON.stringify(service.show(key))} is ${kindOf(value)}; ${flavour.servers} takes only ${flavour.acceptedValues ?? "other values"}. Nothing was sent`;
		throw rejected("VALUE_NOT_TAKEN", text);
	}
}

function kindOf(value: JsonValue): string {
	if (typeof value === "boolean") return "a boolean";
	return value === null ? "null" : Array.isArray(value) ? "a list of other values" : "an object";
}
