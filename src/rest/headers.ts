/** The header fields of an answer as they came: names and values in turn. Looked at only when an answer is no success. */
export type RawHeaders = readonly (Buffer | string)[];

/** Every value of a field, in the order they came. */
export function headerValues(headers: RawHeaders, name: string): string[] {
	const values: string[] = [];
	for (let at = 0; at + 1 < headers.length; at += 2) {
		if (text(headers[at]).toLowerCase() === name) values.push(text(headers[at + 1]));
	}
	return values;
}

function text(field: Buffer | string | undefined): string {
	return typeof field === "string" ? field : (field?.toString("latin1") ?? "");
}
