import type { ServiceVoice } from "./service-voice.ts";

/** Keys that a message names. */
const NAMED = 10;

/** Keys of a document as a row's error names them: `title, topics`, and of many the first, `, and 3 more`. */
export function keysText(service: Pick<ServiceVoice, "show">, keys: readonly string[]): string {
	const named = keys.slice(0, NAMED).map((key) => service.show(key));
	const more = keys.length > NAMED ? `, and ${keys.length - NAMED} more` : "";
	return `${named.join(", ")}${more}`;
}
