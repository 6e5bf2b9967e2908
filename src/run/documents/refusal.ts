import { RestError } from "../../rest/errors.ts";

/** What the service answered, also where a request has made an error for the person at the terminal of it. */
export function answerOf(error: unknown): RestError | undefined {
	if (error instanceof RestError) return error;
	return error instanceof Error && error.cause instanceof RestError ? error.cause : undefined;
}

/** Whether the service takes offence at how it was asked: another size, order or filter may be taken. */
export function isRefusal(error: unknown): error is Error {
	const answer = answerOf(error);
	if (answer === undefined || ["NOT_FOUND", "FORBIDDEN", "OTHER_CASE"].includes(answer.code)) return false;
	return answer.kind === "rejected" || answer.kind === "contradiction";
}
