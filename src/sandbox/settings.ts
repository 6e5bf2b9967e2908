/** Whether documents of equal sort key keep their order from page to page. Real databases do not promise it. */
export type Ties = "stable" | "unstable";

/**
 * What the documentation leaves open, and so is a switch here: a client must not come to depend on one answer. Releases
 * of RAGFlow have made their choice: of these they heed latency and ties, and v0.24 whether an update replaces.
 */
export type Settings = {
	/** milliseconds that every answer is held back */
	readonly latency: number;
	/** whether an update replaces the metadata of a document or is laid over it, key by key */
	readonly update: "replace" | "merge";
	/** largest `page_size` */
	readonly pageSizeLimit: number;
	/** a larger `page_size` is refused, or silently made the largest */
	readonly onLargePage: "error" | "cap";
	/** errors carry their HTTP status, or come with status 200 and the code in the envelope alone */
	readonly errorStyle: "status" | "envelope";
	/** what the flavour does, where it is not set: stable as documented, unstable as RAGFlow */
	readonly ties: Ties | undefined;
};

/** Bytes of a JSON body: metadata of one document is a few kilobytes, so a megabyte is a mistake or an attack. */
export const jsonBodyLimit = 1024 * 1024;

/** Bytes of one upload request, all parts together. */
export const uploadBodyLimit = 512 * 1024 * 1024;

/** Characters of a dataset's name: the bound of deployed servers (service-api.md, section 2). */
export const datasetNameLimit = 128;

/** Bytes of a document's name: what file systems allow for a file name. */
export const documentNameLimit = 255;

/** Documents on a page when the request does not say. */
export const defaultPageSize = 30;
