import { show } from "../text/show.ts";

/** What an error message may say about where a request went. */
export type ErrorContext = {
	/** host and port of the service, and the proxy's, if one is in between */
	readonly host: string;
	/** masks the key, which a server may give back */
	readonly redact: (text: string) => string;
};

/** A text of the service's, fit for an error message: the key is masked before the text is cut. */
export function safe(text: string, place: ErrorContext): string {
	return show(place.redact(text));
}

/** ` "text"`, or nothing where the service said nothing. */
export function quoted(text: string | undefined, place: ErrorContext): string {
	return text === undefined || text.trim() === "" ? "" : ` "${safe(text.trim(), place)}"`;
}
