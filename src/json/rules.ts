import type { JsonValue } from "./values.ts";

/** The rules of reading, and its limits. */
export type JsonRules = {
	/** levels of objects and lists */
	readonly maxDepth: number;
	/** UTF-16 units of one string */
	readonly maxString: number;
	/** faults of one text that are gathered: the next one ends the reading */
	readonly maxFaults: number;
	/**
	 * Converts a number. If it is given, the text is read as Python's `json` does: `NaN`, `Infinity` and `-Infinity` are
	 * numbers, no number is too exact, and the last of several members of one name counts.
	 */
	readonly number?: (digits: string) => JsonValue;
};

/** A fault in a JSON text. It is a `SyntaxError`, like the errors of `JSON.parse`. */
export class JsonFault extends SyntaxError {
	override readonly name = "JsonFault";
	/** `BAD_JSON`, `BAD_NUMBER`, `DUPLICATE_MEMBER`, `TOO_DEEP` or `TOO_LONG` */
	readonly code: string;
	/** in UTF-16 units of the text that was parsed */
	readonly offset: number;
	/** the members in which it stands: of the outermost object, then of an object in that; null where it is in none */
	readonly members: readonly [outer: string | null, inner: string | null];
	/** whether the text ended too early; false if something in it is wrong */
	readonly atEnd: boolean;

	constructor(
		message: string,
		at: Pick<JsonFault, "code" | "offset" | "members"> & { readonly atEnd?: boolean | undefined },
	) {
		super(message);
		this.code = at.code;
		this.offset = at.offset;
		this.members = at.members;
		this.atEnd = at.atEnd === true;
	}
}
