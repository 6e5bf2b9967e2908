import type { Release } from "../flavours/release.ts";
import { documentNameLimit } from "../settings.ts";
import { Code, Failure, worded } from "./failure.ts";
import { fieldText } from "./fields.ts";
import { checkMetadata } from "./metadata.ts";
import { pythonType } from "../python.ts";

export type Members = { readonly [name: string]: unknown };

const methods: ReadonlySet<string> = new Set(
	"naive manual qa table paper book laws presentation picture one knowledge_graph email tag".split(" "),
);

/** Counts that the server keeps itself. In the sandbox they are all 0, because it takes no document apart. */
export function checkUnchangeable(members: Members, release: Release): void {
	for (const name of ["chunk_count", "token_count", "progress"]) {
		const value = Object.hasOwn(members, name) ? members[name] : 0;
		// PATCH releases take null for nothing said.
		if (value === 0 || (value === null && release.values === "flat")) continue;
		throw new Failure(Code.data, worded(`Can't change \`${name}\`.`, release));
	}
}

/** The new name of a document. Another document counts by its very letters, whatever the database finds alike. */
export function checkName(value: unknown, before: string, others: readonly string[], release: Release): void {
	if (typeof value !== "string") {
		const why = `'${pythonType(value)}' object has no attribute 'encode'`;
		throw new Failure(
			Code.exception,
			release.values === "flat" ? `AttributeError(${why})` : `AttributeError("${why}")`,
		);
	}
	if (Buffer.byteLength(value) > documentNameLimit)
		throw new Failure(Code.argument, `File name must be ${documentNameLimit} bytes or less.`);
	if (endingOf(value) !== endingOf(before)) throw new Failure(Code.argument, "The extension of file can't be changed");
	if (others.includes(value)) throw new Failure(Code.data, "Duplicated document name in the same dataset.");
}

export function checkMethod(value: unknown, name: string): void {
	if (typeof value !== "string" || !methods.has(value))
		throw new Failure(Code.data, `\`chunk_method\` ${String(value)} doesn't exist`);
	if (/\.(ppt|pptx|pages)$/.test(name)) throw new Failure(Code.data, "Not supported yet!");
}

/** What PATCH releases check of every member before they look at the document: `UpdateDocumentReq`. */
export function checkKinds(members: Members, body: string, release: Release): void {
	const { name = null, chunk_method: method = null } = members;
	if (release.smallWords && Object.hasOwn(members, "name") && name === null) throw refused("name", notText, null);
	if (name !== null && typeof name !== "string") throw refused("name", notText, name);
	if (method !== null && typeof method !== "string") throw refused("chunk_method", notText, method);
	if (method !== null && method !== "" && !methods.has(method))
		throw refused("chunk_method", `\`chunk_method\` ${method} doesn't exist`, method);
	if (Object.hasOwn(members, "meta_fields")) checkMetadata(body, members["meta_fields"]);
}

const notText = "Input should be a valid string";

function refused(name: string, why: string, value: unknown): Failure {
	return new Failure(Code.data, fieldText(name, why, value));
}

/** With its dot, as Python's `pathlib` takes it: a name that begins or ends with its only dot has none. */
function endingOf(name: string): string {
	const last = name.toLowerCase().split("/").at(-1) ?? "";
	const dot = last.lastIndexOf(".");
	return dot < 1 || dot === last.length - 1 ? "" : last.slice(dot);
}
