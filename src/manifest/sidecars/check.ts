import { hash } from "node:crypto";
import { CliError, Exit } from "../../errors.ts";
import { type Fault, positionIn } from "../fault.ts";
import { MemberNames } from "../json/object.ts";
import { JsonReader } from "../json/reader.ts";
import type { ParsedRow } from "../rows/row-reader.ts";
import { RowValidator } from "../rows/validator.ts";
import { excerpt } from "../../text/show.ts";
import type { CheckedManifest, ManifestOptions, Problem, Row } from "../types.ts";
import { findLocalFiles, type LocalFile, readSidecar, type Sidecar } from "./find.ts";

/** The result of the check of sidecars: a manifest in which each file is a row. */
type CheckedSidecars = Omit<
	CheckedManifest,
	"format" | "failedRows" | "content" | "readBatches" | "keys" | "notes" | "datasets" | "rowsByDataset"
> & {
	/** folders inside those that were named; they are not read */
	readonly folders: number;
};

type SidecarDependencies = {
	readonly onProblem: (problem: Problem) => void;
	readonly signal?: AbortSignal;
};

/** A file whose sidecar is valid. A hash of the content is held, to detect a change. */
type Entry = { readonly file: LocalFile; readonly content: string; readonly payload: string; isSkipped: boolean };

/**
 * Reads the sidecar of every file and finds all faults. Memory grows with the number of files, as the arguments do, not
 * with the content of sidecars.
 *
 * @throws CliError exit 2 when an argument is not there or the schema cannot be used
 */
export async function checkSidecars(
	paths: readonly string[],
	options: ManifestOptions,
	{ onProblem, signal }: SidecarDependencies,
): Promise<CheckedSidecars> {
	const validator = await RowValidator.create(paths[0] ?? ".", options);
	const { files, orphans, folders } = await findLocalFiles(paths);
	const names = new MemberNames(options);
	const reader = new JsonReader("jsonl", options);
	const entries: Entry[] = [];
	const byKey = new Map<string, Entry>();
	let [problems, invalid, duplicateSkipped] = [0, 0, 0];

	const report = (file: string, content: string, { field, code, text, offset }: Fault): void => {
		problems += 1;
		const raw = { text: content, line: 1, column: 1, cells: undefined, fault: undefined };
		const isIn = field !== null && content !== "";
		const place = positionIn(content, offset ?? (isIn ? reader.offsetOf(raw, field) : 0), 1);
		onProblem({ file, ...place, field, code, text: field === null ? text : `${excerpt(field)}: ${text}` });
	};
	/** Files of one name in several folders are one document. */
	const remember = (file: LocalFile, text: string, parsed: ParsedRow): void => {
		const { key, payload } = validator.identity(parsed, "json");
		const entry: Entry = { file, content: hashOf(text), payload: hashOf(payload), isSkipped: false };
		const earlier = byKey.get(key);
		const { onDuplicate } = options;
		if (earlier !== undefined && earlier.payload !== entry.payload && onDuplicate === "error") {
			invalid += 1;
			const what = `the same document as for ${excerpt(earlier.file.path)}, with other values; see --on-duplicate`;
			report(file.path, "", { field: "name", code: "DUPLICATE", text: what });
			return;
		}
		entries.push(entry);
		if (earlier === undefined || onDuplicate === "last") byKey.set(key, entry);
		if (earlier === undefined) return;
		duplicateSkipped += 1;
		(onDuplicate === "last" ? earlier : entry).isSkipped = true;
	};

	for (const orphan of orphans) {
		// It may be the metadata of a file that was moved, and would be lost silently.
		invalid += 1;
		report(orphan, "", { field: null, code: "NO_FILE", text: "a sidecar whose file is not there" });
	}
	for (const file of files) {
		signal?.throwIfAborted();
		const read = await readSidecar(file.sidecar, names);
		if (read === undefined) {
			invalid += 1;
			const text = `has no sidecar: there is no ${excerpt(file.sidecar)}`;
			report(file.path, "", { field: null, code: "NO_SIDECAR", text });
			continue;
		}
		const { text, parsed } = named(read, file);
		const faults = validator.faults(parsed, false);
		const withFaults = { metadata: parsed.metadata, place: excerpt(file.sidecar), faults };
		if (parsed.isReadable) await validator.addSchemaFaults([withFaults], signal);
		for (const fault of faults) report(file.sidecar, text, fault);
		if (faults.length > 0) invalid += 1;
		else remember(file, text, parsed);
	}
	const [first = "."] = paths;
	// A member that is missing may stand in a sidecar that could not be read.
	const unused = invalid > 0 ? [] : names.unused();
	for (const [flag, field] of unused) {
		report(first, "", { field, code: "NO_SUCH_COLUMN", text: `${flag} names a member that no sidecar has` });
	}
	return {
		name: paths.length === 1 ? first : "the files",
		rows: files.length + orphans.length,
		otherRows: 0,
		invalid,
		duplicateSkipped,
		problems,
		fatal: unused.length > 0,
		folders,
		read: () => rowsOf(entries, options, validator),
		close: async () => undefined,
	};
}

async function* rowsOf(
	entries: readonly Entry[],
	options: ManifestOptions,
	validator: RowValidator,
): AsyncGenerator<Row> {
	const names = new MemberNames(options);
	for (const [index, { file, content, isSkipped }] of entries.entries()) {
		if (isSkipped) continue;
		const read = await readSidecar(file.sidecar, names);
		if (read === undefined || hashOf(read.text) !== content) {
			throw new CliError(`${excerpt(file.sidecar)} was changed after it was checked`, {
				exit: Exit.foreign,
				hint: "Leave the sidecars alone while they are read, and run the same command again.",
			});
		}
		const { parsed, text } = named(read, file);
		validator.applyOptions(parsed);
		const { datasetId, documentId, metadata } = parsed;
		const nameReference = { file: file.path, name: file.name, place: () => ({ line: 1, column: 1 }) };
		const source = { kind: "json" as const, text };
		yield { index, line: 1, datasetId, documentId, file: undefined, metadata, source, nameReference };
	}
}

/** The name is the file's own, whatever the sidecar says. */
function named(sidecar: Sidecar, { name }: LocalFile): Sidecar {
	sidecar.parsed.name = name;
	return sidecar;
}

function hashOf(text: string): string {
	return hash("sha256", text, "base64");
}
