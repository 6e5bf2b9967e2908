import type { RequestListener } from "node:http";

export type RagflowOptions = {
	/** the verb that this release updates with */
	readonly verb?: "PUT" | "PATCH";
	/** whether the key is the owner's or a team member's */
	readonly isOwner?: boolean;
	/** what the clock of the service differs by, in milliseconds; NaN for answers without a date */
	readonly skew?: number;
};

export const RAGFLOW_DATASET = "5f1c0123456789abcdef0123456789ab";

/** What RAGFlow answers to what `doctor` asks: nearly always status 200, the verdict in the envelope. */
export function ragflow({ verb = "PUT", isOwner = true, skew = 0 }: RagflowOptions = {}): RequestListener {
	return (request, response) => {
		const { method = "" } = request;
		// A proxy is told the whole address.
		const url = (request.url ?? "").replace(/^http:\/\/[^/]+/, "");
		request.resume();
		const json = (value: unknown): void => {
			response.sendDate = false;
			const date = Number.isNaN(skew) ? {} : { date: new Date(Date.now() + skew).toUTCString() };
			response.writeHead(200, { "content-type": "application/json", ...date }).end(JSON.stringify(value));
		};
		const refuse = (code: number, words: string): void => json({ code, data: null, message: words });
		if (method === "GET" && url.startsWith("/api/v1/datasets?")) {
			return json({ code: 0, data: [{ id: RAGFLOW_DATASET, name: "handbooks", document_count: 7 }] });
		}
		if (method === "GET") return json({ code: 0, data: { total: 7, docs: [] } });
		if (method !== verb) return refuse(100, "<MethodNotAllowed '405: Method Not Allowed'>");
		const isThere = url.includes(RAGFLOW_DATASET);
		return refuse(102, isThere && isOwner ? "The dataset doesn't own the document." : "You don't own the dataset.");
	};
}
