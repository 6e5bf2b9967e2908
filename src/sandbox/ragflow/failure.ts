import type { Release } from "../flavours/release.ts";
import { pythonRepr } from "../python.ts";
import { Refusal } from "../refusal.ts";

/** The codes of the envelope. They are not HTTP statuses: the status is nearly always 200. */
export const Code = {
	success: 0,
	exception: 100,
	argument: 101,
	data: 102,
	operating: 103,
	permission: 108,
	authentication: 109,
	badRequest: 400,
	unauthorized: 401,
	notFound: 404,
	server: 500,
} as const;

type FailureParts = { readonly status?: number; readonly data?: string; readonly error?: string };

/** An answer that is no success, in RAGFlow's words. */
export class Failure extends Refusal {
	/** HTTP status */
	readonly status: number;
	/** JSON text of the envelope's `data`; `undefined` leaves it out */
	readonly data: string | undefined;
	/** the envelope's `error`; `undefined` leaves it out */
	readonly error: string | undefined;

	constructor(code: number, message: string, { status = 200, data, error }: FailureParts = {}) {
		super(code, message);
		this.status = status;
		this.data = data;
		this.error = error;
	}
}

/** An exception that the server does not catch: its `repr` is the message. */
export function exception(printed: string): Failure {
	return new Failure(Code.exception, printed, { data: "null" });
}

/** An error of the database, with its number and text (`server_error_response` in api/utils/api_utils.py). */
export function databaseError(number: number, text: string, { databaseError: shape }: Release): Failure {
	if (shape === "number") return new Failure(Code.exception, String(number), { data: JSON.stringify(text) });
	const kind = number === 1064 ? "ProgrammingError" : "OperationalError";
	return exception(`${kind}(${number}, ${pythonRepr(text)})`);
}

/** Python leaves a blank at its end (list_docs in api/apps/sdk/doc.py), Go none (handler/document.go:539). */
export function noDataset(id: string, { reads }: Release): Failure {
	if (reads === "as-go") return new Failure(Code.data, `You don't own the dataset ${id}.`, { data: "null" });
	return new Failure(Code.data, `You don't own the dataset ${id}. `);
}

export function failureText({ code, message, data, error }: Failure): string {
	const between = data === undefined ? "" : `"data":${data},`;
	const named = error === undefined ? "" : `"error":${JSON.stringify(error)},`;
	return `{"code":${code},${between}${named}"message":${JSON.stringify(message)}}`;
}

/** The envelope of a success, which mostly has no message. `data` is JSON text. */
export function success(data?: string, message?: string | null): string {
	const end = message === undefined ? "" : `,"message":${JSON.stringify(message)}`;
	return data === undefined ? `{"code":0${end}}` : `{"code":0,"data":${data}${end}}`;
}

/**
 * From v0.27 on messages of documents begin with a small letter and end without a full stop
 * (api/apps/restful_apis/document_api.py), and in v1.0 others, too.
 */
export function worded(message: string, { lowerCaseMessages }: Release, of: "documents" | "all" = "documents"): string {
	if (lowerCaseMessages !== "all" && lowerCaseMessages !== of) return message;
	return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, "");
}
