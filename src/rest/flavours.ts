import { BODY_FORMS } from "../body-forms.ts";
import type { Metadata } from "../json/values.ts";
import { foldedName } from "../text/names.ts";
import type { Flavour, ListOrder, Meaning, ProbeAnswer, Signs } from "./flavour.ts";
import { isDatabaseAway, isPlainValue, isTextOrNumber, meaningInGo, splitLists, splitListsInGo } from "./ragflow.ts";

export type { DatasetListStyle, DocumentCall, Flavour, ListOrder, Normalise, ProbeAnswer } from "./flavour.ts";

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
function asSent(metadata: Metadata): Metadata {
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
		idsAtOnce: 0,
	},
	calls: [],
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
	hasSlowFirstWrites: false,
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
		idsAtOnce: 0,
	},
	// From v0.17 on (api/apps/sdk/doc.py: download, parse, update_doc), and in v1.0 (internal/router/router.go).
	calls: ["download", "parse", "rename"],
	uploadCode500: "definite",
	onlyOwnerUpdates: true,
	knownSpeed: "a RAGFlow server on two cores takes 100 to 200 updates a second at any concurrency (v0.24: about 50)",
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
	hasSlowFirstWrites: false,
	nameKey: foldedName,
	acceptsValue: () => true,
} as const satisfies Partial<Flavour>;

const ragflowPut: Flavour = {
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

const ragflowPatch: Flavour = {
	...ragflow,
	name: "ragflow-patch",
	servers: "RAGFlow v0.25 to v0.27",
	update: { verb: "PATCH", forms: ["json"] },
	// From v0.25.1 on (api/apps/restful_apis/document_api.py). v0.25.0 ignores them; v0.27 takes no more than 100.
	list: { ...ragflow.list, idsAtOnce: 100 },
	// Removals refuse unknown ids from the release on that has PUT again: v0.25.2 (delete_documents in
	// api/apps/restful_apis/document_api.py, deprecated_update_document in api/apps/backward_compat.py).
	removesMany: { most: 100, isSeenBy: isTaken },
	// v0.25.3 to v0.27: see `FirstWrites`.
	hasSlowFirstWrites: true,
	knownSpeed:
		"a RAGFlow server on two cores takes about 50 updates a second at any concurrency, and from v0.25.3 on one a second that gives a document its first metadata",
	acceptsValue: isPlainValue,
	acceptedValues: "text, numbers, booleans and lists of them",
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

/** The server that was written anew in Go. Read in its code of 2026-08-22 (internal/router, handler, service, engine), not run. */
const ragflow1: Flavour = {
	...ragflow,
	name: "ragflow-1.0",
	// Go's mime/multipart gives a part the base of its file name (`Part.FileName`).
	dropsFolders: true,
	servers: "RAGFlow v1.0",
	update: { verb: "PATCH", forms: ["json"] },
	// `ids` of a list has no bound of its own; a page has a hundred (ListDocuments in internal/handler/document.go).
	list: { ...ragflow.list, idsAtOnce: 100 },
	// An unknown id refuses them all (validateDocsInDataset in internal/service/document/document_parse.go).
	removesMany: { most: 100, isSeenBy: (put) => put === "no_route" },
	knownSpeed: undefined,
	// The reference of v1.0.0-rc1 says so, with both to be checked. The code before it gives 200 for nearly all.
	hasStatuses: true,
	meaning: (code, message) => meaningInGo(code, message) ?? ragflow.meaning(code, message),
	normalise: splitListsInGo,
	// Only a file with exactly the same name gets a number (uniqueUploadName in internal/service/document/document_upload.go).
	nameKey: (name) => name,
	acceptsValue: isTextOrNumber,
	acceptedValues: "text, numbers and lists of them",
	showsMetadata: true,
	// A verb without a route is status 404 with code 404 (HandleNoRoute in internal/handler/error.go). Python releases answer 405.
	recognise: (signs) => {
		const { patch, put, list } = signs;
		if (put !== "no_route" || patch === "no_route" || (!isTaken(patch) && list !== "ragflow")) return undefined;
		return `it has no route for PUT${isTaken(patch) ? ", and it accepts PATCH" : ""}${furtherSigns(signs)}`;
	},
};

/** Every flavour. The first one that recognises the signs is chosen, so the most specific come first. */
export const flavours: readonly Flavour[] = [ragflow1, ragflowPut, ragflowPatch, documented];

export function flavourNamed(name: string): Flavour | undefined {
	return flavours.find((flavour) => flavour.name === name);
}
