import { BODY_FORMS, type BodyForm } from "../body-forms.ts";
import { foldedName } from "../text/names.ts";
import type { JsonValue, Metadata } from "../json/values.ts";
import { isDatabaseAway, anyValue, asSent, plainValue, splitLists } from "./ragflow.ts";

export type ListOrder = { readonly by: "create_time" | "update_time" | "name"; readonly descending: boolean };

/**
 * What an envelope's code says about the request, beside 0 for success.
 *
 * - `passing`: not now; the request may be sent again
 * - `database_away`: not now, whatever is asked: it may have been applied, and nobody is better off
 * - `slow_down`: too many requests
 * - `key_refused`, `not_allowed`, `not_found`: what the words say
 * - `contradiction`: the service does not take what this flavour sends (another verb, another form)
 * - `refused`: a definite no
 */
export type Meaning =
	| "passing"
	| "database_away"
	| "slow_down"
	| "key_refused"
	| "not_allowed"
	| "not_found"
	| "contradiction"
	| "refused";

/** The signs by which a flavour is recognised: two updates of a document that nobody has, and the list of datasets. */
export type Signs = {
	readonly patch: ProbeAnswer;
	readonly put: ProbeAnswer;
	/** absent where the list tells nothing */
	readonly list?: DatasetListStyle | undefined;
};

/**
 * - `in_its_words`: the verb has a route, which refused the unknown document as RAGFlow does
 * - `taken`: the verb has a route, which refused the unknown document in other words
 * - `wrong_verb`: the way in which RAGFlow says that it does not: status 200, code 100, "405: Method Not Allowed"
 * - `other`: anything else, a status of 404 or 405 among it
 */
export type ProbeAnswer = "in_its_words" | "taken" | "wrong_verb" | "other";

/**
 * How a list of datasets is answered. `ragflow`: with members that only RAGFlow has. `documented`: as the documentation
 * says, with a message beside the list and without those members.
 */
export type DatasetListStyle = "ragflow" | "documented" | "unknown";

/** The metadata that a service keeps of what it was sent, by its known rules. */
export type Normalise = (sent: Metadata) => Metadata;

/** One kind of server that answers at addresses of this API: everything in which it differs from the others. */
export type Flavour = {
	readonly name: string;
	/** the servers of this kind, in words */
	readonly servers: string;
	readonly update: {
		readonly verb: "PUT" | "PATCH";
		/** forms that it may take, the one to try first in front; each is believed only once it was read back */
		readonly forms: readonly [BodyForm, ...BodyForm[]];
	};
	/** whether a document to remove is named in the path, or in a list of ids in the body */
	readonly removal: "path" | "body";
	readonly list: {
		/** orders to list in, one after another, until all documents were seen; undefined is the service's own */
		readonly orders: readonly [ListOrder | undefined, ...(ListOrder | undefined)[]];
		/** an order in which no two documents are equal, so that none falls between two pages */
		readonly strict: ListOrder | undefined;
		/** whether some of its releases understand `metadata_condition`, and none takes offence at it */
		readonly condition: boolean;
	};
	/** whether an upload of several files or an unsupported one may end in a definite code 500 */
	readonly uploadCode500: "definite" | "unknown";
	/** whether it is known that no key but the owner's may update a dataset */
	readonly ownerAlone: boolean;
	/** what is known of its pace, as a clause; undefined where nothing is */
	readonly pace: string | undefined;
	readonly meaning: (code: number, message: string) => Meaning;
	readonly normalise: Normalise;
	/** what it compares of a document's name: it has one document at most of each such key, and numbers the next */
	readonly nameKey: (name: string) => string;
	/** whether a value of that kind can be written */
	readonly takes: (value: JsonValue) => boolean;
	/** how it is recognised, or undefined where the signs speak against it */
	readonly recognise: (signs: Signs) => string | undefined;
};

const orders = {
	oldestFirst: { by: "create_time", descending: false },
	newestFirst: { by: "create_time", descending: true },
	leastUpdated: { by: "update_time", descending: false },
	mostUpdated: { by: "update_time", descending: true },
} as const satisfies Record<string, ListOrder>;

const wrongVerb = /\b405\b.*method not allowed/i;

/** What RAGFlow says of a dataset or a document that is not there, or not the key's: all releases from v0.15 to v0.27. */
export const NOT_OWNED = /\bown the (?:dataset|document)\b/i;

/** Codes that mean the same wherever they are used: the HTTP statuses of the same number, and RAGFlow's own. */
function common(code: number, message: string): Meaning | undefined {
	if (isDatabaseAway(code, message)) return "database_away";
	if (code === 405 || wrongVerb.test(message)) return "contradiction";
	if (code === 401 || code === 109) return "key_refused";
	if (code === 403 || code === 108) return "not_allowed";
	if (code === 404) return "not_found";
	return code === 429 ? "slow_down" : undefined;
}

/** Codes of the documented API that say "not now": the documentation names none, so the HTTP statuses of that kind. */
const passing = new Set([408, 425, 500, 502, 503, 504]);

const [firstForm, ...otherForms] = BODY_FORMS;

/** Section 1 of the API's description: what is taken for granted until something else is found. */
export const documented: Flavour = {
	name: "documented",
	servers: "the API as documented",
	update: { verb: "PUT", forms: [firstForm.name, ...otherForms.map(({ name }) => name)] },
	removal: "path",
	list: { orders: [undefined, orders.oldestFirst, orders.newestFirst], strict: undefined, condition: false },
	uploadCode500: "unknown",
	ownerAlone: false,
	pace: undefined,
	meaning: (code, message) => {
		const known = common(code, message);
		if (known !== undefined) return known;
		// RAGFlow's code for what its routes do not understand, the part form among it, and RAGFlow's words for what is not there.
		if (code === 100 || (code === 102 && NOT_OWNED.test(message))) return "contradiction";
		return passing.has(code) ? "passing" : "refused";
	},
	normalise: asSent,
	nameKey: (name) => name,
	takes: anyValue,
	recognise: ({ patch, put }) =>
		patch === "wrong_verb" && put === "wrong_verb"
			? undefined
			: "it does not answer as a RAGFlow server does, so it is taken at its documentation",
};

const WRONG_VERB = 'code 100, "405: Method Not Allowed"';
const ITS_LIST = "its list of datasets has the members that RAGFlow's has";

const isTaken = (answer: ProbeAnswer): boolean => answer === "taken" || answer === "in_its_words";

/** What beside the verbs says that it is RAGFlow, as a clause. */
function besides({ patch, put, list }: Signs): string {
	if (list === "ragflow") return `, and ${ITS_LIST}`;
	return patch === "in_its_words" || put === "in_its_words"
		? ", and refuses an unknown document in RAGFlow's words"
		: "";
}

const ragflow = {
	removal: "body",
	list: {
		orders: [orders.oldestFirst, orders.newestFirst, orders.leastUpdated, orders.mostUpdated],
		// Names are unique in a dataset. All releases sort by a column that is named, v0.27 by the two times and this one
		// (api/apps/restful_apis/document_api.py).
		strict: { by: "name", descending: false },
		condition: true,
	},
	uploadCode500: "definite",
	ownerAlone: true,
	pace: "a RAGFlow server on two cores takes 100 to 200 updates a second whatever the concurrency",
	meaning: (code, message) => {
		const known = common(code, message);
		if (known !== undefined) return known;
		if (code === 105 || code === 106) return "passing";
		// What some routes make of an exception from v0.25.1 on, behind the write too: restful_apis/document_api.py.
		if (code === 102 && message === "Internal server error") return "passing";
		if (code === 100) return "contradiction";
		if (/\bown the document\b/i.test(message)) return "not_found";
		return /\bown the dataset\b/i.test(message) ? "not_allowed" : "refused";
	},
	// Not every release of a flavour splits: what was sent as it stands is believed too.
	normalise: splitLists,
	nameKey: foldedName,
	takes: anyValue,
} as const satisfies Partial<Flavour>;

export const ragflowPut: Flavour = {
	...ragflow,
	name: "ragflow-put",
	servers: "RAGFlow v0.17 to v0.24",
	update: { verb: "PUT", forms: ["json"] },
	// A proxy may drop PATCH, as many drop what they do not know: then the list, or the words of a refusal, tell.
	recognise: (signs) => {
		const { patch, put, list } = signs;
		if (isTaken(patch) || put === "wrong_verb") return undefined;
		if (patch === "wrong_verb") {
			return `to PATCH it answers ${WRONG_VERB}${isTaken(put) ? ", and it takes PUT" : ""}${besides(signs)}`;
		}
		if (put === "in_its_words") return `it takes PUT${besides(signs)}; PATCH did not reach it`;
		return list === "ragflow" ? `${ITS_LIST}, though PATCH did not reach it` : undefined;
	},
};

export const ragflowPatch: Flavour = {
	...ragflow,
	name: "ragflow-patch",
	servers: "RAGFlow v0.25 and later",
	update: { verb: "PATCH", forms: ["json"] },
	takes: plainValue,
	// From v0.25.2 on PUT is an alias of PATCH (api/apps/backward_compat.py), so what PUT answers says little.
	recognise: (signs) => {
		const { patch, put, list } = signs;
		if (put === "wrong_verb" && patch !== "wrong_verb") {
			return `to PUT it answers ${WRONG_VERB}${isTaken(patch) ? ", and it takes PATCH" : ""}${besides(signs)}`;
		}
		if (!isTaken(patch)) return undefined;
		// A service that follows its documentation in all else may route both verbs: only its own words speak for RAGFlow.
		if (list === "documented" && patch === "taken") return undefined;
		return `it takes PATCH${isTaken(put) ? ", and PUT as its alias" : ""}${besides(signs)}`;
	},
};

/** Every flavour, the most telling first: the first that recognises the answers is it. */
export const flavours: readonly Flavour[] = [ragflowPut, ragflowPatch, documented];

export function flavourNamed(name: string): Flavour | undefined {
	return flavours.find((flavour) => flavour.name === name);
}
