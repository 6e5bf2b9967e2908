import type { IncomingMessage } from "node:http";
import type { Service } from "./routes/call.ts";

/** An answer, ready to be sent. */
export type Reply = {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	/** the header Content-Type */
	readonly type: string;
	/** or the bytes of a file */
	readonly text: string | Buffer;
};

/** A way to speak: works one request off, and never rejects. */
export type Dialect = (request: IncomingMessage, service: Service) => Promise<Reply>;

export function jsonReply(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Reply {
	return { status, headers, type: "application/json; charset=utf-8", text };
}

export function faultText(error: unknown): string {
	return `the sandbox failed: ${error instanceof Error ? error.message : String(error)}`;
}
