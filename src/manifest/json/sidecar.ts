import { errorCode, reason } from "../../errors.ts";
import { openInput } from "../../input-file.ts";
import { decode } from "../bytes/decode.ts";
import { unpack } from "../bytes/unpack.ts";
import { positionIn, ReadingStop, type Fault } from "../fault.ts";
import { memberOffsets, type MemberNames, rowOfMembers } from "./object.ts";
import { JsonFault } from "../../json/lexer.ts";
import { type Member, parseMembers } from "../../json/parser.ts";
import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import { emptyRow, type ParsedRow } from "../rows/row-reader.ts";
import { excerpt } from "../../text/show.ts";

/** The ending of a sidecar's name, after the whole name of its file. */
export const SIDECAR_SUFFIX = ".meta.json";

type Sidecar = {
	readonly parsed: ParsedRow;
	/** the place in the sidecar of a fault of its row */
	placeOf(fault: Fault): ReturnType<typeof positionIn>;
};

/** The row of a sidecar, with all its faults. Undefined if there is no such file. */
export async function readSidecar(path: string, names: MemberNames): Promise<Sidecar | undefined> {
	let text = "";
	try {
		await using file = await openInput(path);
		// A pipe may never end.
		if (file.handle === undefined) return unreadable("BAD_SIDECAR", "cannot be read: it is no regular file");
		for await (const piece of decode(unpack(file.bytes()))) {
			text += piece;
			if (text.length > MAX_RECORD)
				throw new ReadingStop("TOO_LONG", `a sidecar of more than ${MAX_RECORD} characters`);
		}
		const parsed = sidecarRow(parseMembers(text, MANIFEST_JSON), names);
		const offsetOf = (field: string | null): number => memberOffsets(text, names).get(field ?? "") ?? 0;
		return { parsed, placeOf: ({ field, offset }) => positionIn(text, offset ?? offsetOf(field), 1) };
	} catch (error) {
		if (error instanceof JsonFault) return unreadable(error.code, error.message, positionIn(text, error.offset, 1));
		if (error instanceof ReadingStop) return unreadable(error.code, error.message, positionIn(text, text.length, 1));
		if (errorCode(error) === "ENOENT") return undefined;
		if (errorCode(error) === undefined) throw error;
		return unreadable("BAD_SIDECAR", `cannot be read: ${reason(error)}`);
	}
}

/**
 * The metadata of a sidecar: all members of the object, whatever their names, or those of its `meta_fields`. Beside
 * `meta_fields` it may have the same members as a JSON manifest.
 */
function sidecarRow(members: ReadonlyMap<string, Member>, names: MemberNames): ParsedRow {
	if (Array.from(members.keys()).some((name) => names.of(name) === "meta_fields")) {
		return rowOfMembers(members, names, { purpose: "resolve" });
	}
	const parsed = emptyRow();
	for (const [original, { value, start }] of members) {
		const key = names.of(original);
		if (key === undefined) continue;
		if (parsed.metadata.has(key)) {
			const text = "stands twice in this sidecar, after --map";
			parsed.faults.push({ field: key, code: "DUPLICATE_MEMBER", text, offset: start });
		} else if (names.meant(key) === "meta_fields") {
			const text = `did you mean meta_fields? A key called ${excerpt(key)} belongs in meta_fields`;
			parsed.faults.push({ field: key, code: "UNKNOWN_MEMBER", text, offset: start });
		} else parsed.metadata.set(key, value);
	}
	return parsed;
}

function unreadable(code: string, text: string, place = { line: 1, column: 1 }): Sidecar {
	const parsed = emptyRow();
	parsed.isReadable = false;
	parsed.faults.push({ field: null, code, text });
	return { parsed, placeOf: () => place };
}
