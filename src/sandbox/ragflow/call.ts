import type { IncomingMessage } from "node:http";
import type { Release } from "../flavours/release.ts";
import type { Service } from "../routes/call.ts";

/** The ids in the path, as they were sent and as the database takes them; empty where the path has none. */
export type Asked = {
	readonly datasetId: string;
	readonly documentId: string;
	readonly datasetAsked: string;
	readonly documentAsked: string;
};

/** One request on its way to a route, whose host, path, method and key are already found good. */
export type Call = Asked & {
	readonly request: IncomingMessage;
	readonly query: URLSearchParams;
	readonly release: Release;
	/** whether the key is the owner's; otherwise it is one of a member of the team */
	readonly owner: boolean;
};

/** The bytes of a document, as they were uploaded. */
export type FileAnswer = { readonly bytes: Buffer; readonly name: string };

/** Answers a call with the text of a whole envelope, or with a file, or throws a `Failure`. */
export type Route = (call: Call, service: Service) => Promise<string | FileAnswer>;
