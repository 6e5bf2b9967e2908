import type { BodyForm } from "../body-forms.ts";
import type { JsonValue, Metadata } from "../json/values.ts";

/** The signs by which a flavour is recognised: two updates of a document that does not exist, and the list of datasets. */
export type Signs = {
	readonly patch: ProbeAnswer;
	readonly put: ProbeAnswer;
	/** absent if the list says nothing */
	readonly list?: DatasetListStyle | undefined;
};

/**
 * How a server answers an update of a document that does not exist.
 *
 * - `in_its_words`: the verb has a route, which refused the unknown document in RAGFlow's words
 * - `taken`: the verb has a route, which refused the unknown document in other words
 * - `wrong_verb`: RAGFlow's answer to a verb without a route: status 200, code 100, "405: Method Not Allowed"
 * - `no_route`: that of RAGFlow v1.0: status 404, code 404, "Not Found: " and the path
 * - `other`: any other answer, such as status 404 or 405
 */
export type ProbeAnswer = "in_its_words" | "taken" | "wrong_verb" | "no_route" | "other";

/**
 * The style of a list of datasets. `ragflow`: it has members that only RAGFlow has. `documented`: it follows the
 * documentation, with a message beside the list and without those members.
 */
export type DatasetListStyle = "ragflow" | "documented" | "unknown";

/** How one request removes several documents: all of them, or none where one is unknown. */
type RemovesMany = {
	/** documents that one request can name at most */
	readonly most: number;
	/** whether the release does so, by its answer to a PUT of a document that does not exist */
	readonly isSeenBy: (put: ProbeAnswer) => boolean;
};

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

/** The metadata that a service keeps after a write, by its known rules. */
export type Normalise = (sent: Metadata) => Metadata;

/** A call that only some kinds of servers have. */
export type DocumentCall = "download" | "parse" | "rename";

/** One kind of server with this API: everything in which it differs from the others. */
export type Flavour = {
	readonly name: string;
	/** whether an upload loses the folders of its name; of other servers the first such upload shows it */
	readonly dropsFolders?: true;
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
		/** documents that one request can name at most; 0 if that is not known, and each is asked for by itself */
		readonly idsAtOnce: number;
	};
	/** the calls that it has beside those that all have */
	readonly calls: readonly DocumentCall[];
	/** whether an upload of several files or an unsupported one may end in a definite code 500 */
	readonly uploadCode500: "definite" | "unknown";
	/** whether only the owner's key may update a dataset; false if that is not known */
	readonly onlyOwnerUpdates: boolean;
	/** its known speed, as a clause */
	readonly knownSpeed: string | undefined;
	/** whether it may give a status of an error beside its code */
	readonly hasStatuses?: boolean;
	readonly meaning: (code: number, message: string) => Meaning;
	readonly normalise: Normalise;
	/** whether some of its releases keep metadata in a search engine, with one type a key, and show none while searches fail */
	readonly hasSearchEngine: boolean;
	/** whether the first metadata of a document holds the whole server at some of its releases */
	readonly hasSlowFirstWrites: boolean;
	/** the form in which it compares names of documents; it renames a second document with the same form */
	readonly nameKey: (name: string) => string;
	/** whether it accepts a metadata value */
	readonly acceptsValue: (value: JsonValue) => boolean;
	/** the values that it accepts, for people; undefined if it accepts all */
	readonly acceptedValues?: string;
	/** whether the answer to an update has the metadata that the document has then, and none if the service could not keep it */
	readonly showsMetadata?: boolean;
	/** the reason why the signs fit, as a clause; undefined if they do not fit */
	readonly recognise: (signs: Signs) => string | undefined;
};
