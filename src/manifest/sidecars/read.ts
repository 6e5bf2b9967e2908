import { errorCode, reason } from "../../errors.ts";
import { type InputFile, openInput } from "../../input-file.ts";
import { decode } from "../bytes/decode.ts";
import { unpack } from "../bytes/unpack.ts";
import { Stop, type Fault } from "../fault.ts";
import type { MemberNames } from "../json-rows/names.ts";
import { draftOf } from "../json-rows/object.ts";
import { JsonFault } from "../../json/rules.ts";
import { type Member, parseMembers } from "../../json/parser.ts";
import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import { emptyDraft, type Draft } from "../rows/draft.ts";
import { excerpt } from "../../text/show.ts";

export type Sidecar = { readonly text: string; readonly draft: Draft };

/** What a sidecar says, with every fault of it in the draft. Undefined where there is none. */
export async function readSidecar(path: string, names: MemberNames): Promise<Sidecar | undefined> {
	let file: InputFile;
	try {
		file = await openInput(path);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		return unreadable("", { field: null, code: "BAD_SIDECAR", text: `cannot be read: ${reason(error)}` });
	}
	try {
		// A pipe would be read once, and sidecars are read twice.
		if (file.handle !== undefined) return await parsed(file.bytes(), names);
		return unreadable("", { field: null, code: "BAD_SIDECAR", text: "cannot be read: it is no regular file" });
	} finally {
		await file.close();
	}
}

async function parsed(bytes: AsyncIterable<Buffer>, names: MemberNames): Promise<Sidecar> {
	let text = "";
	try {
		for await (const piece of decode(unpack(bytes))) {
			text += piece;
			if (text.length > MAX_RECORD) throw new Stop("TOO_LONG", `a sidecar of more than ${MAX_RECORD} characters`);
		}
		return { text, draft: sidecarDraft(parseMembers(text, MANIFEST_JSON), names) };
	} catch (error) {
		if (error instanceof JsonFault) {
			return unreadable(text, { field: null, code: error.code, text: error.message, offset: error.offset });
		}
		if (error instanceof Stop) {
			return unreadable(text, { field: null, code: error.code, text: error.message, offset: text.length });
		}
		if (errorCode(error) === undefined) throw error;
		return unreadable("", { field: null, code: "BAD_SIDECAR", text: `cannot be read: ${reason(error)}` });
	}
}

/**
 * The metadata of a sidecar: all members of the object, whatever they are called, or those of its `meta_fields`. Beside
 * that may stand what may stand beside it in a JSON manifest.
 */
function sidecarDraft(members: ReadonlyMap<string, Member>, names: MemberNames): Draft {
	if (Array.from(members.keys()).some((name) => names.of(name) === "meta_fields")) {
		return draftOf(members, names, { purpose: "resolve" });
	}
	const draft = emptyDraft();
	for (const [original, { value, start }] of members) {
		const key = names.of(original);
		if (key === undefined) continue;
		if (draft.metadata.has(key)) {
			const text = "stands twice in this sidecar, after --map";
			draft.faults.push({ field: key, code: "DUPLICATE_MEMBER", text, offset: start });
		} else if (names.meant(key) === "meta_fields") {
			const text = `did you mean meta_fields? A key called ${excerpt(key)} belongs in meta_fields`;
			draft.faults.push({ field: key, code: "UNKNOWN_MEMBER", text, offset: start });
		} else draft.metadata.set(key, value);
	}
	return draft;
}

function unreadable(text: string, fault: Fault): Sidecar {
	const draft = emptyDraft();
	draft.isReadable = false;
	draft.faults.push(fault);
	return { text, draft };
}
