/** A fault in a JSON text: `offset` in UTF-16 units of the text that was parsed. */
export class JsonFault extends Error {
	override readonly name = "JsonFault";
	readonly code: string;
	readonly offset: number;
	/** the member that it stands in: of the outermost object, or of its `meta_fields`; null where it is in none */
	readonly member: string | null;
	/** whether the text ended too early, as against something being wrong in it */
	readonly atEnd: boolean;

	constructor(code: string, message: string, offset: number, member: string | null, atEnd = false) {
		super(message);
		this.code = code;
		this.offset = offset;
		this.member = member;
		this.atEnd = atEnd;
	}
}
