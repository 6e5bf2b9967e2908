/**
 * The address that a text is; undefined where it is none.
 *
 * Not `URL.canParse`: once optimised, that of Node 20 refuses a host with a Latin letter such as ü.
 */
export function urlOf(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}
