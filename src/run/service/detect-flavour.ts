import { usageError } from "../../errors.ts";
import { DATABASE_AWAY, type FlavourRequest, RestError } from "../../rest/errors.ts";
import { type DocumentCall, type Flavour, flavours, type ProbeAnswer } from "../../rest/flavours.ts";
import type { Api } from "../../rest/types.ts";
import type { Request } from "../types.ts";
import type { Recognition } from "./service-memory.ts";

/** The requests of rows that were answered "no such route", and those answers. */
export type Unrouted = ReadonlyMap<FlavourRequest, string>;

const REQUESTS: Readonly<Record<FlavourRequest, string>> = {
	PUT: "an update by PUT",
	PATCH: "an update by PATCH",
	path: "a removal with the id in the path",
	body: "a removal with the id in the body",
};

type Recognised = { readonly flavour: Flavour; readonly how: string };

/**
 * Detects which flavour answers, by requests that change nothing: a list, and updates of a document that does not exist.
 *
 * The list comes first: it shows whether key and address are right before anything else is asked. A flavour with a request
 * in `unrouted` is no answer: some services look a dataset up before the verb, and say nothing of the verb to a probe.
 *
 * @param isPatient whether a PATCH without an answer may be retried. Otherwise the service counts as one that does not know
 * PATCH, as some proxies drop requests with a method that they don't know
 * @throws RestError where the service can't be reached or trusted, or is of no flavour that is known
 */
export async function detectFlavour(
	api: Api,
	request: Request,
	{ isPatient = true, unrouted = new Map() }: { readonly isPatient?: boolean; readonly unrouted?: Unrouted } = {},
): Promise<Recognised> {
	const list = await request(() => api.probeList());
	const patch = await request(() => api.probeUpdate("PATCH")).catch((error: unknown): ProbeAnswer => {
		const isLost = error instanceof RestError && error.kind === "ambiguous" && error.code !== DATABASE_AWAY;
		if (isPatient || !isLost) throw error;
		return "other";
	});
	// A server that lists as the documentation says, and has no PATCH, is the documented one. A PUT would add nothing.
	const isPlain = patch === "other" && list === "documented";
	const put = isPlain ? "other" : await request(() => api.probeUpdate("PUT"));
	for (const flavour of flavours) {
		if (unrouted.has(flavour.update.verb) || unrouted.has(flavour.removal)) continue;
		const how = flavour.recognise({ patch, put, list });
		if (how !== undefined) return { flavour, how: unrouted.size === 0 ? how : `${how}; ${answersText(unrouted)}` };
	}
	const answers =
		unrouted.size > 0
			? answersText(unrouted)
			: 'the service answers "405: Method Not Allowed" to PUT and to PATCH of a document';
	const text = `${answers}: no kind of server that ragtag knows does so`;
	throw new RestError(text, { kind: "not_the_api", code: "UNKNOWN_FLAVOUR" });
}

function answersText(unrouted: Unrouted): string {
	return [...unrouted].map(([request, answer]) => `${answer} to ${REQUESTS[request]}`).join("; ");
}

/** The values of `--flavour`. */
export const flavourNames: readonly string[] = flavours.map(({ name }) => name).toReversed();

const CALLS: Readonly<Record<DocumentCall, string>> = {
	download: "gives the bytes of a document",
	parse: "starts the parsing of a document",
	rename: "renames a document",
};

/**
 * Ends a command whose calls the service does not have, before anything is sent but the probes that detect its flavour.
 *
 * @param what the command or its option: `docs parse`, `--on-existing replace`
 * @throws CliError (usage)
 */
export async function requireCall(
	{ service, request }: { readonly service: { known(request: Request): Promise<Api> }; readonly request: Request },
	call: DocumentCall,
	what: string,
): Promise<void> {
	const { flavour } = (await service.known(request)).dialect;
	if (flavour.calls.includes(call)) return;
	const text = `${what}: this service documents no such call: ${flavour.servers} has none that ${CALLS[call]}; nothing was sent`;
	throw usageError(
		text,
		"If it is a RAGFlow server, name its kind: --flavour ragflow-put, ragflow-patch or ragflow-1.0.",
	);
}

/** Milliseconds for which a detected flavour counts: rows that fail alike detect it once. */
const CONFIRMED_FOR = 60_000;

/** Detections in a row that a wrong verb may cause at any time although each finds the same flavour. */
const FRUITLESS_DETECTIONS = 3;

/**
 * Whether an answer that does not fit the dialect is a reason to detect the flavour again.
 *
 * A code 100 may be about its row alone. A "405" is about no row: the service was changed, however lately it was detected.
 */
export class Redetection {
	#confirmedAt = Number.NEGATIVE_INFINITY;
	#fruitless = 0;
	#unrouted = new Map<FlavourRequest, string>();
	/**
	 * whether requests have succeeded in this flavour: a new canary after a refusal does not change that. A firewall answers 405
	 * to the text of a row (alibabacloud.com/help/en/waf, "Custom responses": "The default block response code for WAF is 405")
	 */
	#hasWorked = false;

	/** what real requests were answered, which outweighs every probe */
	get unrouted(): Unrouted {
		return this.#unrouted;
	}

	/** Takes the answers of earlier commands, in place of all that are known. */
	remember(unrouted: Unrouted = new Map()): void {
		this.#unrouted = new Map(unrouted);
	}

	/** @param hasWorked whether requests of the same kind succeeded before: the service was changed since */
	note({ unrouted, message, code }: RestError, hasWorked: boolean): void {
		this.#hasWorked ||= hasWorked;
		// Once requests have worked, a page of a proxy does not show which routes the API has.
		if (unrouted === undefined || (this.#hasWorked && code.startsWith("HTTP_"))) return;
		if (hasWorked) this.#unrouted.clear();
		this.#unrouted.set(unrouted, message);
	}

	isDue(error: RestError | undefined, now: number): boolean {
		const isVerb = error !== undefined && isWrongVerb(error) && this.#fruitless < FRUITLESS_DETECTIONS;
		return isVerb || now - this.#confirmedAt >= CONFIRMED_FOR;
	}

	/** It was detected again, and is the same. */
	confirmed(error: RestError | undefined, now: number): void {
		this.#confirmedAt = now;
		if (error !== undefined && isWrongVerb(error)) this.#fruitless += 1;
	}

	/** It was detected again, and is another. */
	changed(): void {
		this.#hasWorked = false;
		this.#fruitless = 0;
		this.#confirmedAt = Number.NEGATIVE_INFINITY;
	}
}

function isWrongVerb({ status, message, unrouted }: RestError): boolean {
	return unrouted !== undefined || status === 405 || /\b405\b.*method not allowed/i.test(message);
}

/**
 * The error to report for an update or a removal: of kind `not_the_api` if its answer contradicts the flavour that the
 * user gave, otherwise the same error.
 *
 * @param spoken the service in the dialect of the request
 */
export function errorForGivenFlavour(error: unknown, { api, recognition }: Spoken, spoken: Api): unknown {
	if (!(error instanceof RestError) || error.kind !== "contradiction") return error;
	if (recognition?.origin !== "given" || spoken !== api) return error;
	const { name } = api.dialect.flavour;
	const text = `${error.message}: the service is not of the flavour ${name}, which was ${recognition.how}`;
	return new RestError(text, { kind: "not_the_api", code: "OTHER_FLAVOUR", status: error.status, cause: error });
}

/** The dialect in use, and how it is known. */
type Spoken = { readonly api: Api; readonly recognition: Pick<Recognition, "origin" | "how"> | undefined };
