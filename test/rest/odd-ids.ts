import fc from "fast-check";

/** Ids that could change the path that they are put into. */
export const oddIds = fc.oneof(
	fc.string({ unit: "binary", maxLength: 40 }),
	fc.string({ unit: "grapheme", maxLength: 40 }),
	fc
		.array(
			fc.constantFrom(".", "..", "/", "\\", "%2e", "%2F", "?", "#", ";", " ", "\0", "\r\n", "\uD800", "a", "é", "😀"),
			{ maxLength: 8 },
		)
		.map((parts) => parts.join("")),
	fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 8 }),
);
