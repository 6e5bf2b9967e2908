/** One thing wrong with a record, before it is known where in the file the record stands. */
export type Fault = {
	/** column or member, as it is called after `--map`; null where the fault is in none */
	readonly field: string | null;
	readonly code: string;
	/** what is wrong, without the field's name */
	readonly text: string;
	/** where in the record's text, in UTF-16 units; when absent, where the field begins */
	readonly offset?: number;
	/** the metadata key whose value is at fault, where nothing else is: a document may have that value already */
	readonly ofValue?: string;
};

/**
 * Ends the reading of a manifest: no row after it can be trusted.
 *
 * It never leaves this folder: the first reading reports it as a problem, the second as a changed manifest.
 */
export class ReadingStop extends Error {
	override readonly name = "Stop";
	readonly code: string;
	/** line and column, both from 1, or undefined for the end of what was decoded so far */
	readonly at: { readonly line: number; readonly column: number } | undefined;

	constructor(code: string, message: string, at?: { readonly line: number; readonly column: number }) {
		super(message);
		this.code = code;
		this.at = at;
	}
}
