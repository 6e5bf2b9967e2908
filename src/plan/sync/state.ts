import { hash } from "node:crypto";
import * as v from "valibot";
import { parseAs } from "../../json/parse-as.ts";
import type { SourceFile } from "../plan-file/lines.ts";

/** The version of the format. It is raised when the meaning of a member changes. */
export const STATE_FORMAT = 1;

const TEXT = v.string();
const HEAD = v.pipe(
	v.object({
		ragtag_sync: v.literal(STATE_FORMAT),
		/** as `normaliseBaseUrl` gives it */
		base_url: TEXT,
		dataset_id: TEXT,
		/** absolute path of the folder */
		root: TEXT,
		/** the device of the folder: another file system may be mounted there the next time */
		device: v.number(),
		/** whether a list of the dataset has shown metadata */
		tagged: v.boolean(),
	}),
	v.transform((read) => {
		const { ragtag_sync: _, base_url: baseUrl, dataset_id: datasetId, tagged: isTagged, ...head } = read;
		return { baseUrl, datasetId, isTagged, ...head };
	}),
);
const ENTRY = v.pipe(
	v.object({
		path: TEXT,
		document_id: TEXT,
		/** the name that the document is stored under */
		name: TEXT,
		size: v.number(),
		mtime: v.number(),
		ino: v.number(),
		sha256: TEXT,
	}),
	v.transform(({ document_id: documentId, ...entry }) => ({ documentId, ...entry })),
);
const FOOT = v.object({ files: v.number(), sha256: TEXT });

/** A document that a sync has put into a dataset, and its file as it was then. */
export type SyncEntry = Readonly<v.InferOutput<typeof ENTRY>>;

/** What syncs of one folder have put into one dataset. */
export type SyncState = Readonly<v.InferOutput<typeof HEAD>> & {
	/** by the path from the folder */
	readonly entries: ReadonlyMap<string, SyncEntry>;
};

/** Where a state belongs. */
export type SyncPlace = Pick<SyncState, "baseUrl" | "datasetId" | "root">;

/** JSON lines: the place, the entries, and a last line with their number and the hash of all lines before it. */
export function stateText({ baseUrl, datasetId, root, device, isTagged, entries }: SyncState): string {
	const head = { ragtag_sync: STATE_FORMAT, base_url: baseUrl, dataset_id: datasetId, root, device, tagged: isTagged };
	const lines = [JSON.stringify(head)];
	for (const { path, documentId, name, size, mtime, ino, sha256 } of entries.values()) {
		lines.push(JSON.stringify({ path, document_id: documentId, name, size, mtime, ino, sha256 }));
	}
	const text = `${lines.join("\n")}\n`;
	return `${text}${JSON.stringify({ files: entries.size, sha256: hash("sha256", text) })}\n`;
}

/** @returns undefined where the text was cut or edited, or is no state */
export function readState(text: string): SyncState | undefined {
	const end = text.lastIndexOf("\n", text.length - 2) + 1;
	const foot = parseAs(FOOT, text.slice(end));
	const [first = "", ...lines] = text.slice(0, end).split("\n");
	const head = parseAs(HEAD, first);
	if (head === undefined || foot?.sha256 !== hash("sha256", text.slice(0, end))) return undefined;
	const entries = new Map<string, SyncEntry>();
	for (const line of lines.slice(0, -1)) {
		const entry = parseAs(ENTRY, line);
		if (entry === undefined) return undefined;
		entries.set(entry.path, entry);
	}
	return { ...head, entries };
}

/** What differs between the place of a state and another, as words; undefined where they are one. */
export function otherPlace(state: SyncPlace, { baseUrl, datasetId, root }: SyncPlace): string | undefined {
	if (state.baseUrl !== baseUrl) return `for ${state.baseUrl}, and this would go to ${baseUrl}`;
	if (state.datasetId !== datasetId) return `for dataset ${state.datasetId}, and this is dataset ${datasetId}`;
	return state.root === root ? undefined : `for the folder ${state.root}, and this is ${root}`;
}

type Status = Pick<SourceFile, "size" | "mtime" | "ino">;

/** Whether a file has the size, time and inode that it had when its document was stored: then it is not read. */
export function hasSameStatus(entry: Status, file: Status): boolean {
	return entry.size === file.size && entry.mtime === file.mtime && entry.ino === file.ino;
}
