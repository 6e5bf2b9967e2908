import type { App } from "../../app.ts";
import { usageError } from "../../errors.ts";
import { walkPaths } from "../../files/walk.ts";
import { SIDECAR_SUFFIX } from "../../manifest/json/sidecar.ts";
import type { CheckedManifest, ManifestOptions, Row } from "../../manifest/types.ts";
import { numberText } from "../../text/words.ts";
import { requireDataset } from "../dataset.ts";
import { fileMetadata } from "../rows/file-values.ts";

/** Rows that name documents. */
export type NamedRows = Pick<CheckedManifest, "name" | "rows" | "invalid" | "problems" | "fatal" | "read" | "close">;

/**
 * Files as rows: each names its document, and its sidecar has the metadata. A folder stands for the files directly in it.
 * Memory holds all of it. Every problem is printed.
 *
 * @throws CliError exit 2 where a path can't be read, or a sidecar has no file
 */
export async function sidecarRows(
	paths: readonly string[],
	options: ManifestOptions,
	{ json, app }: { readonly json: boolean; readonly app: App },
): Promise<NamedRows> {
	const dataset = requireDataset("--match sidecar", options.dataset);
	if (paths.includes("-")) throw usageError("--match sidecar can't read standard input; nothing was sent");
	let folders = 0;
	const enters = (): boolean => {
		folders += 1;
		return false;
	};
	// `docs/*` names files and sidecars.
	const named = paths.map((path) => (path.endsWith(SIDECAR_SUFFIX) ? path.slice(0, -SIDECAR_SUFFIX.length) : path));
	const filters = { takes: () => true, enters };
	const walking = { filters, follow: true, sidecarSuffix: SIDECAR_SUFFIX, signal: app.signal };
	const { files, problems: unread } = await walkPaths(named, walking);
	const metadata = await fileMetadata(app, json, options);
	for (const { path, text } of unread) {
		await metadata.report(path, { field: null, code: "BAD_FILE", text });
	}
	const rows: Row[] = [];
	for (const facts of files) {
		const own = await metadata.of(facts, `${facts.path}${SIDECAR_SUFFIX}`);
		if (own !== undefined) rows.push(rowOf(facts, dataset, rows.length, own));
	}
	const [first = "."] = paths;
	const invalid = files.length - rows.length;
	// A member that is missing may stand in a sidecar that could not be read.
	const unused = invalid > 0 ? [] : metadata.unused();
	for (const [flag, field] of unused) {
		const text = `${flag} names a member that no sidecar has`;
		await metadata.report(first, { field, code: "NO_SUCH_COLUMN", text });
	}
	const problems = metadata.end();
	if (unread.length > 0) {
		const count = unread.length === 1 ? "1 file or folder" : `${numberText(unread.length)} files or folders`;
		throw usageError(`${count} can't be read; nothing was sent`, "Check the paths of the files.");
	}
	if (folders > 0) {
		const inside = folders === 1 ? "1 folder" : `${numberText(folders)} folders`;
		app.io.note(`Not read: ${inside} inside the named ones. Name each folder that you mean.`);
	}
	return {
		name: paths.length === 1 ? first : "the files",
		rows: files.length,
		invalid,
		problems,
		fatal: unused.length > 0,
		async *read() {
			yield* rows;
		},
		close: async () => undefined,
	};
}

function rowOf(
	{ path, name }: { readonly path: string; readonly name: string },
	datasetId: string,
	index: number,
	metadata: Row["metadata"],
): Row {
	const nameReference = { file: path, name, place: () => ({ line: 1, column: 1 }) };
	const source = { text: "" };
	return { index, line: 1, datasetId, documentId: "", file: undefined, metadata, source, nameReference };
}
