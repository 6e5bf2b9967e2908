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
export type RemovesMany = {
	/** documents that one request can name at most */
	readonly most: number;
	/** whether the release does so, by its answer to a PUT of a document that does not exist */
	readonly isSeenBy: (put: ProbeAnswer) => boolean;
};
