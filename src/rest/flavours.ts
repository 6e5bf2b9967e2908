import { BODY_FORMS, type BodyForm } from "../body-forms.ts";
import { foldedName } from "../text/names.ts";
import type { JsonValue, Metadata } from "../json/values.ts";
import type { ProbeAnswer, RemovesMany, Signs } from "./signs.ts";
import { isDatabaseAway, isPlainValue, splitLists } from "./ragflow.ts";

export type ListOrder = { readonly by: "create_time" | "update_time" | "name"; readonly descending: boolean };

/**
 * The meaning of an envelope's code. Code 0 is success.
 *
 * - `passing`: the service can't do it now; the request may be sent again
 * - `database_away`: the service can't do anything now; the request may have been applied
 * - `slow_down`: too many requests
 * - `key_refused`, `not_allowed`, `not_found`: as the names say
 * - `contradiction`: the service does not accept what this flavour sends (another verb, another form)
 * - `metadata_refused`: a definite refusal, after which the document may have no metadata at all
 * - `refused`: a definite refusal
 */
export type Meaning =
	| "passing"
	| "database_away"
	| "slow_down"
	| "key_refused"
	| "not_allowed"
	| "not_found"
	| "contradiction"
	| "metadata_refused"
	| "refused";

export type { DatasetListStyle, ProbeAnswer } from "./signs.ts";

/** The metadata that a service keeps after a write, by its known rules. */
export type Normalise = (sent: Metadata) => Metadata;

/** One kind of server with this API: everything in which it differs from the others. */
export type Flavour = {
	readonly name: string;
	/** the servers of this kind, for people */
	readonly servers: string;
	readonly update: {
		readonly verb: "PUT" | "PATCH";
		/** body forms that it may accept, in the order to try them; none counts before a write in it was read back */
		readonly forms: readonly [BodyForm, ...BodyForm[]];
	};
	/** whether a document to remove is named in the path, or in a list of ids in the body */
	readonly removal: "path" | "body";
	/** undefined where each removal names one document */
	readonly removesMany: RemovesMany | undefined;
	readonly list: {
		/** orders to list in, one after another, until all documents were seen; undefined is the service's own order */
		readonly orders: readonly [ListOrder | undefined, ...(ListOrder | undefined)[]];
		/** an order in which no two documents are equal, so that no document falls between two pages */
		readonly strict: ListOrder | undefined;
		/** whether the total of a list counts every entry that its pages show; at worst, those of one page */
		readonly countsAll: boolean;
		/** whether some of its releases understand `metadata_condition`, and no release refuses it */
		readonly condition: boolean;
		/** documents that one request can name at most; 0 if that is not known, and each is asked for by itself */
		readonly idsAtOnce: number;
	};
	/** whether an upload of several files or an unsupported one may end in a definite code 500 */
	readonly uploadCode500: "definite" | "unknown";
	/** whether only the owner's key may update a dataset; false if that is not known */
	readonly onlyOwnerUpdates: boolean;
	/** its known speed, as a clause */
	readonly knownSpeed: string | undefined;
	readonly meaning: (code: number, message: string) => Meaning;
	readonly normalise: Normalise;
	/** whether some of its releases keep metadata in a search engine, with one type a key, and show none while searches fail */
	readonly hasSearchEngine: boolean;
	/** the form in which it compares names of documents; it renames a second document with the same form */
	readonly nameKey: (name: string) => string;
	/** whether it accepts a metadata value */
	readonly acceptsValue: (value: JsonValue) => boolean;
	/** the reason why the signs fit, as a clause; undefined if they do not fit */
	readonly recognise: (signs: Signs) => string | undefined;
};

const orders = {
	oldestFirst: { by: "create_time", descending: false },
	newestFirst: { by: "create_time", descending: true },
	leastUpdated: { by: "update_time", descending: false },
	mostUpdated: { by: "update_time", descending: true },
} as const satisfies Record<string, ListOrder>;

const wrongVerb = /\b405\b.*method not allowed/i;

/** RAGFlow's words for a dataset or a document that does not exist or belongs to another user, v0.15 to v0.27. */
export const NOT_OWNED = /\bown the (?:dataset|document)\b/i;

/** Codes with one meaning in all flavours: the HTTP statuses of the same number, and RAGFlow's own. */
function commonMeaning(code: number, message: string): Meaning | undefined {
	if (isDatabaseAway(code, message)) return "database_away";
	if (code === 405 || wrongVerb.test(message)) return "contradiction";
	if (code === 401 || code === 109) return "key_refused";
	if (code === 403 || code === 108) return "not_allowed";
	if (code === 404) return "not_found";
	return code === 429 ? "slow_down" : undefined;
}

/** Codes that pass: the documentation names none, so these are the numbers of HTTP statuses that pass. */
const PASSING = new Set([408, 425, 500, 502, 503, 504]);

const [firstForm, ...otherForms] = BODY_FORMS;

/** A service that keeps metadata as it was sent. */
export function asSent(metadata: Metadata): Metadata {
	return metadata;
}

/** Section 1 of the API's description. It is assumed until another flavour is found. */
export const documented: Flavour = {
	name: "documented",
	servers: "the API as documented",
	update: { verb: "PUT", forms: [firstForm.name, ...otherForms.map(({ name }) => name)] },
	removal: "path",
	removesMany: undefined,
	list: {
		orders: [undefined, orders.oldestFirst, orders.newestFirst],
		strict: undefined,
		countsAll: false,
		condition: false,
		idsAtOnce: 0,
	},
	uploadCode500: "unknown",
	onlyOwnerUpdates: false,
	knownSpeed: undefined,
	meaning: (code, message) => {
		const known = commonMeaning(code, message);
		if (known !== undefined) return known;
		// RAGFlow's code for a request that its route does not understand, such as the part form; and its words for a missing document.
		if (code === 100 || (code === 102 && NOT_OWNED.test(message))) return "contradiction";
		return PASSING.has(code) ? "passing" : "refused";
	},
	normalise: asSent,
	hasSearchEngine: false,
	nameKey: (name) => name,
	acceptsValue: () => true,
	recognise: ({ patch, put }) =>
		patch === "wrong_verb" && put === "wrong_verb"
			? undefined
			: "it does not answer as a RAGFlow server does, so it is treated as the documented API",
};

const WRONG_VERB = 'code 100, "405: Method Not Allowed"';
const ITS_LIST = "its list of datasets has RAGFlow's members";

const isTaken = (answer: ProbeAnswer): boolean => answer === "taken" || answer === "in_its_words";

/** Further signs of RAGFlow, as a clause. */
function furtherSigns({ patch, put, list }: Signs): string {
	if (list === "ragflow") return `, and ${ITS_LIST}`;
	return patch === "in_its_words" || put === "in_its_words"
		? ", and refuses an unknown document in RAGFlow's words"
		: "";
}

const ragflow = {
	removal: "body",
	// Up to v0.25.1 unknown ids are reported after the others were removed.
	removesMany: undefined,
	list: {
		orders: [orders.oldestFirst, orders.newestFirst, orders.leastUpdated, orders.mostUpdated],
		// Names are unique in a dataset. All releases sort by the column that is asked for; v0.27 accepts the two times and this
		// one (api/apps/restful_apis/document_api.py).
		strict: { by: "name", descending: false },
		// It counts the rows of the same query, and then cuts the page (get_list and get_by_kb_id in
		// api/db/services/document_service.py, v0.16 to v0.27). Up to v0.15 the total counts the page.
		countsAll: true,
		condition: true,
		idsAtOnce: 0,
	},
	uploadCode500: "definite",
	onlyOwnerUpdates: true,
	knownSpeed: "a RAGFlow server on two cores takes 100 to 200 updates a second at any concurrency",
	meaning: (code, message) => {
		const known = commonMeaning(code, message);
		if (known !== undefined) return known;
		if (code === 105 || code === 106) return "passing";
		// An exception in some routes from v0.25.1 on, also after the write: restful_apis/document_api.py.
		if (code === 102 && message === "Internal server error") return "passing";
		if (code === 100) return "contradiction";
		// The search engine refused the new metadata. v0.24.0 and v0.25.3 to v0.27.0 have removed the previous one by then
		// (update_document_metadata in api/db/services/doc_metadata_service.py).
		if (code === 102 && message === "Failed to update metadata") return "metadata_refused";
		if (/\bown the document\b/i.test(message)) return "not_found";
		return /\bown the dataset\b/i.test(message) ? "not_allowed" : "refused";
	},
	// Not every release of a flavour splits. So unchanged values count as arrived too.
	normalise: splitLists,
	hasSearchEngine: true,
	nameKey: foldedName,
	acceptsValue: () => true,
} as const satisfies Partial<Flavour>;

export const ragflowPut: Flavour = {
	...ragflow,
	name: "ragflow-put",
	servers: "RAGFlow v0.17 to v0.24",
	update: { verb: "PUT", forms: ["json"] },
	// A proxy may drop PATCH, as many drop unknown verbs. Then the list, or the words of a refusal, are the signs.
	recognise: (signs) => {
		const { patch, put, list } = signs;
		if (isTaken(patch) || put === "wrong_verb") return undefined;
		if (patch === "wrong_verb") {
			return `it answers PATCH with ${WRONG_VERB}${isTaken(put) ? ", and it accepts PUT" : ""}${furtherSigns(signs)}`;
		}
		if (put === "in_its_words") return `it accepts PUT${furtherSigns(signs)}; PATCH did not reach it`;
		return list === "ragflow" ? `${ITS_LIST}, though PATCH did not reach it` : undefined;
	},
};

export const ragflowPatch: Flavour = {
	...ragflow,
	name: "ragflow-patch",
	servers: "RAGFlow v0.25 and later",
	update: { verb: "PATCH", forms: ["json"] },
	// From v0.25.1 on (api/apps/restful_apis/document_api.py). v0.25.0 ignores them; v0.27 takes no more than 100.
	list: { ...ragflow.list, idsAtOnce: 100 },
	// Removals refuse unknown ids from the release on that has PUT again: v0.25.2 (delete_documents in
	// api/apps/restful_apis/document_api.py, deprecated_update_document in api/apps/backward_compat.py).
	removesMany: { most: 100, isSeenBy: isTaken },
	acceptsValue: isPlainValue,
	// From v0.25.2 on PUT is an alias of PATCH (api/apps/backward_compat.py), so the answer to PUT says little.
	recognise: (signs) => {
		const { patch, put, list } = signs;
		if (put === "wrong_verb" && patch !== "wrong_verb") {
			return `it answers PUT with ${WRONG_VERB}${isTaken(patch) ? ", and it accepts PATCH" : ""}${furtherSigns(signs)}`;
		}
		if (!isTaken(patch)) return undefined;
		// A service that follows its documentation otherwise may route both verbs. Only its own words are a sign of RAGFlow.
		if (list === "documented" && patch === "taken") return undefined;
		return `it accepts PATCH${isTaken(put) ? ", and PUT as its alias" : ""}${furtherSigns(signs)}`;
	},
};

/** Every flavour. The first one that recognises the signs is chosen, so the most specific come first. */
export const flavours: readonly Flavour[] = [ragflowPut, ragflowPatch, documented];

export function flavourNamed(name: string): Flavour | undefined {
	return flavours.find((flavour) => flavour.name === name);
}
