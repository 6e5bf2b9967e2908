import { type Answer, decoded, type ParsedEnvelope, type RawHeaders } from "../../src/rest/answer.ts";

/** An answer with that text; with bytes that are no text where it is undefined. */
export function answerOf(status: number, text: string | undefined, headers: RawHeaders = []): Answer {
	return decoded({ status, headers, bytes: text === undefined ? Buffer.of(0xff) : Buffer.from(text) });
}

export function readEnvelope(text: string): ParsedEnvelope | string {
	return answerOf(200, text).envelope;
}
