import { DATABASE_AWAY, RestError } from "../../rest/errors.ts";
import { type Flavour, flavours, type ProbeAnswer } from "../../rest/flavours.ts";
import type { Api } from "../../rest/types.ts";
import type { Request } from "../types.ts";

export type Recognised = { readonly flavour: Flavour; readonly how: string };

/**
 * Finds out which flavour answers, by requests that change nothing: a list, and updates of a document that nobody has.
 *
 * The list comes first: it shows whether key and address are right before anything else is asked.
 *
 * @param isPatient whether a PATCH that is not answered may be tried again; else it is taken for one that is not known,
 * as there are proxies that drop whatever they do not know
 * @throws RestError where the service can't be reached or trusted, or is of no flavour that is known
 */
export async function detectFlavour(api: Api, request: Request, isPatient = true): Promise<Recognised> {
	const list = await request(() => api.probeList());
	const patch = await request(() => api.probeUpdate("PATCH")).catch((error: unknown): ProbeAnswer => {
		const isLost = error instanceof RestError && error.kind === "ambiguous" && error.code !== DATABASE_AWAY;
		if (isPatient || !isLost) throw error;
		return "other";
	});
	// A server that lists as the documentation says, and has no PATCH, is taken at it: PUT tells nothing more.
	const isPlain = patch === "other" && list === "documented";
	const put = isPlain ? "other" : await request(() => api.probeUpdate("PUT"));
	for (const flavour of flavours) {
		const how = flavour.recognise({ patch, put, list });
		if (how !== undefined) return { flavour, how };
	}
	const text =
		'the service answers "405: Method Not Allowed" to PUT and to PATCH of a document: no release that ragtag knows does so';
	throw new RestError(text, { kind: "not_the_api", code: "UNKNOWN_FLAVOUR" });
}

/** What `--flavour` may say. */
export const flavourNames: readonly string[] = flavours.map(({ name }) => name).toReversed();

/** How long a flavour that was just found out is not doubted again, in milliseconds: rows that fail alike ask once. */
const CONFIRMED_FOR = 60_000;

/** Times in a row that a wrong verb may lead to the same flavour again before it is doubted no more than other answers. */
const FRUITLESS = 3;

/**
 * Whether an answer that does not fit what was spoken is a reason to find the flavour out anew.
 *
 * A code 100 may be about its row alone. A "405" is about none: the service was changed, however lately it was asked.
 */
export class Redetection {
	#confirmedAt = Number.NEGATIVE_INFINITY;
	#fruitless = 0;

	isDue(error: RestError | undefined, now: number): boolean {
		const isVerb = error !== undefined && isWrongVerb(error) && this.#fruitless < FRUITLESS;
		return isVerb || now - this.#confirmedAt >= CONFIRMED_FOR;
	}

	/** It was found out anew, and is the same. */
	confirmed(error: RestError | undefined, now: number): void {
		this.#confirmedAt = now;
		if (error !== undefined && isWrongVerb(error)) this.#fruitless += 1;
	}

	/** It was found out anew, and is another. */
	changed(): void {
		this.#fruitless = 0;
		this.#confirmedAt = Number.NEGATIVE_INFINITY;
	}
}

function isWrongVerb({ status, message }: RestError): boolean {
	return status === 405 || /\b405\b.*method not allowed/i.test(message);
}
