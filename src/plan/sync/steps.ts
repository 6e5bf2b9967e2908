import { extname } from "node:path";
import type { Metadata } from "../../json/values.ts";
import type { PlannedChange, PlannedUpdate, SourceFile } from "../plan-file/lines.ts";
import { hasSameStatus, type SyncEntry } from "./state.ts";

/** A file of the folder, with what it wants. */
export type WantedFile = {
	readonly file: SourceFile;
	/** the name to store it under */
	readonly name: string;
	/** the keys that it gives */
	readonly metadata: Metadata;
	/** why nothing can be done about it */
	readonly fault?: { readonly code: string; readonly text: string } | undefined;
};

/** A document that the state knows, as the dataset lists it. */
export type KnownDocument = {
	readonly id: string;
	readonly name: string;
	/** `metadataHash` of what it has */
	readonly was: string;
};

/** A change of metadata, or why it can't be made; undefined where the document has what is wanted. */
export type Retag = (id: string, wanted: Metadata) => PlannedUpdateOf | { readonly fault: string } | undefined;
type PlannedUpdateOf = Pick<PlannedUpdate, "was" | "metadata" | "difference">;

type SyncInput = {
	readonly datasetId: string;
	/** sorted by path */
	readonly files: readonly WantedFile[];
	readonly entries: ReadonlyMap<string, SyncEntry>;
	/** the documents of the entries that the dataset lists, by id */
	readonly documents: ReadonlyMap<string, KnownDocument>;
	readonly retag: Retag;
	/** files that were not found: `gone`, or only left out by the filters */
	readonly absent: ReadonlyMap<string, "gone" | "left out">;
	/** whether the service renames documents */
	readonly canRename: boolean;
	/** whether the whole folder could be read: otherwise a file that is not found may be there */
	readonly isWhole: boolean;
	readonly removes: boolean;
	readonly removesLeftOut: boolean;
	/** whether names are the same text, however they are composed */
	readonly isSameName: (one: string, other: string) => boolean;
};

export type SyncSteps = ReturnType<typeof planSync>;

/** The change without its line, which is its place in the plan. */
type Step = PlannedChange extends infer Change ? (Change extends PlannedChange ? Omit<Change, "line"> : never) : never;

/**
 * The steps that make a dataset hold what a folder holds: uploads, replacements, renames and new metadata, in the order of the
 * files, then the removals. A document that the state does not know is never touched.
 */
export function planSync(input: SyncInput) {
	const { datasetId, files, entries, documents, absent, isSameName } = input;
	const steps: Step[] = [];
	const fresh: WantedFile[] = [];
	let unchanged = 0;
	let misnamed = 0;
	const tag = (id: string, name: string, { metadata, file }: WantedFile): void => {
		const found = metadata.size === 0 ? undefined : input.retag(id, metadata);
		if (found === undefined) return;
		const ids = { datasetId, documentId: id, name };
		if ("fault" in found) steps.push({ ...ids, action: "fail", path: file.path, code: "INEXACT", text: found.fault });
		else steps.push({ ...ids, action: "update", ...found });
	};
	for (const wanted of files) {
		const { file, name, metadata, fault } = wanted;
		const entry = entries.get(file.path);
		const document = entry && documents.get(entry.documentId);
		if (fault !== undefined) {
			const documentId = document?.id ?? "";
			steps.push({ datasetId, documentId, name, action: "fail", path: file.path, ...fault });
			continue;
		}
		if (entry === undefined || document === undefined) {
			fresh.push(wanted);
			continue;
		}
		const ids = { datasetId, documentId: document.id, name };
		if (file.sha256 !== entry.sha256) {
			steps.push({ ...ids, action: "replace", file, metadata });
			continue;
		}
		const before = steps.length;
		const isMisnamed = !isSameName(document.name, name);
		if (isMisnamed && !input.canRename) misnamed += 1;
		if (isMisnamed && input.canRename) {
			steps.push({ ...ids, action: "rename", from: document.name, file, metadata: new Map() });
		} else if (!hasSameStatus(entry, file)) steps.push({ ...ids, action: "keep", file, metadata: new Map() });
		tag(document.id, name, wanted);
		if (steps.length === before) unchanged += 1;
	}
	const missing = [...entries.values()].filter(({ path, documentId }) => absent.has(path) && documents.has(documentId));
	const gone = missing.filter(({ path }) => absent.get(path) === "gone");
	const moves = input.canRename && input.isWhole ? movesOf(fresh, gone) : new Map<string, SyncEntry>();
	for (const wanted of fresh) {
		const { file, name, metadata } = wanted;
		const moved = moves.get(file.path);
		const document = moved && documents.get(moved.documentId);
		if (document === undefined) {
			steps.push({ datasetId, documentId: "", name, action: "upload", file, metadata });
			continue;
		}
		const ids = { datasetId, documentId: document.id, name };
		steps.push({ ...ids, action: "rename", from: document.name, fromPath: moved?.path, file, metadata: new Map() });
		tag(document.id, name, wanted);
	}
	const taken = new Set([...moves.values()].map(({ path }) => path));
	const removed = missing.filter(({ path }) => !taken.has(path));
	for (const { path, documentId } of removed) {
		const isLeftOut = absent.get(path) === "left out";
		const document = documents.get(documentId);
		if (document === undefined || !(isLeftOut ? input.removesLeftOut : input.removes)) continue;
		const { id, name, was } = document;
		steps.push({ datasetId, documentId: id, name, action: "remove", was, path: isLeftOut ? undefined : path });
	}
	return {
		changes: steps.map((step, index): PlannedChange => ({ ...step, line: index + 1 })),
		/** files whose documents have all they want */
		unchanged,
		/** documents that keep another name than their files want, as the service renames none */
		misnamed,
		/** documents whose files are gone */
		gone: removed.filter(({ path }) => absent.get(path) === "gone").length,
		/** documents whose files are left out by the filters */
		leftOut: removed.filter(({ path }) => absent.get(path) === "left out").length,
	};
}

/**
 * The files that were moved, by their new paths: a file that is gone and a new one have the same content, and no others have
 * it. The ending must be the same, as services refuse to change it.
 */
function movesOf(fresh: readonly WantedFile[], gone: readonly SyncEntry[]): ReadonlyMap<string, SyncEntry> {
	const news = unique(fresh, ({ file }) => file.sha256);
	const olds = unique(gone, ({ sha256 }) => sha256);
	const moves = new Map<string, SyncEntry>();
	for (const [sha256, { file, name }] of news) {
		const old = olds.get(sha256);
		if (old !== undefined && extname(old.name).toLowerCase() === extname(name).toLowerCase()) moves.set(file.path, old);
	}
	return moves;
}

/** The items whose key no other has, by their keys. */
function unique<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item> {
	const found = new Map<string, Item>();
	const several = new Set<string>();
	for (const item of items) {
		const key = keyOf(item);
		if (found.has(key)) several.add(key);
		found.set(key, item);
	}
	for (const key of several) found.delete(key);
	return found;
}

/** The fewest removals that are always allowed with the default limit, and its share of the documents. */
const FEWEST_REMOVALS = 5;
const SHARE_OF_REMOVALS = 0.1;

/** How many removals a sync may make. @param limit undefined for the default */
export function mostRemovals(
	documents: number,
	limit: { readonly unit: "rows" | "percent"; readonly value: number } | undefined,
): number {
	if (limit === undefined) return Math.max(FEWEST_REMOVALS, Math.floor(documents * SHARE_OF_REMOVALS));
	return limit.unit === "rows" ? limit.value : Math.floor((documents * limit.value) / 100);
}
