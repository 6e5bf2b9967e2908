import type { IncomingMessage } from "node:http";
import type { Release } from "../flavours/release.ts";
import type { Service } from "../routes/call.ts";

/** One request on its way to a route, whose host, path, method and key are already found good. */
export type Call = {
	readonly request: IncomingMessage;
	readonly query: URLSearchParams;
	/** the ids in the path, empty where the path has none */
	readonly datasetId: string;
	readonly documentId: string;
	readonly release: Release;
	/** whether the key is the owner's; otherwise it is one of a member of the team */
	readonly owner: boolean;
};

/** Answers a call with the text of a whole envelope, or throws a `Failure`. */
export type Route = (call: Call, service: Service) => Promise<string>;
