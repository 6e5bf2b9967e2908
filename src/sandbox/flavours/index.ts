import type { ListRules, Release } from "./release.ts";
import { release10 } from "./release-1.0.ts";

/** v0.18: the oldest release that is still in use; it checks the least. */
const ragflow018: Release = {
	updateVerbs: ["PUT"],
	body: "any-header",
	reads: "as-python",
	refusedKey: "status-200",
	databaseError: "number",
	unknownPath: "status-200",
	slashes: "two-redirected",
	headers: {},
	noMessage: undefined,
	parserMember: "chunk_method",
	values: "any",
	metadataIn: "database",
	unfitValues: "stored",
	metadataId: "of-document",
	splitsLists: false,
	itemEquality: "value",
	merges: false,
	updateAnswer: "nothing",
	enabled: "ignored",
	sameMethod: "keeps-chunks",
	emptyRemoval: "removes-all",
	removalMessage: undefined,
	removedIds: "exact",
	list: {
		message: undefined,
		lowerCaseFalse: false,
		checksPageFirst: false,
		badPage: "fails",
		zeroPage: "literal",
		defaultPageSize: 30,
		maxPageSize: undefined,
		overMaxPageSize: "refused",
		orderBy: "any-column",
		keywords: "part",
		refusalHasList: false,
		filters: false,
		ids: "ignored",
		runs: "as-written",
		metadataFilters: false,
		unknownRun: "matches-nothing",
		condition: undefined,
	},
	datasets: {
		checks: "loose",
		ids: "uuid1",
		total: false,
		missingCode: 102,
		takenName: "refused-102",
		emptyRemoval: "removes-all",
		hasShow: false,
	},
	missingDownload: "names-dataset",
	downloadType: "octet-stream",
	bulkUpdate: "absent",
	servesWeb: false,
	uploadMissingDatasetCode: 100,
	lowerCaseMessages: "none",
	reportsPartialUpload: false,
	fileNames: "numbered-in-folders",
};

// Each of the following releases is the one before it, with what changed.

/** v0.21: an update answers with the document, and arguments are checked. */
const ragflow021: Release = {
	...ragflow018,
	updateAnswer: "document",
	enabled: "without-document",
	sameMethod: "drops-chunks",
	fileNames: "numbered",
	list: { ...ragflow018.list, lowerCaseFalse: true, filters: true },
	datasets: {
		...ragflow018.datasets,
		checks: "strict",
		total: true,
		missingCode: 108,
		takenName: "refused-103",
		emptyRemoval: "null-removes-all",
	},
};

const condition023: ListRules["condition"] = {
	contains: "stored-in-wanted",
	dates: false,
	numbers: "kept",
	listsWithoutCase: false,
	asciiOperators: false,
	join: "by-key",
	withoutConditions: "all",
};

/** v0.23: it answers the part form of an update with success, and changes nothing. */
const ragflow023: Release = {
	...ragflow021,
	body: "or-form",
	enabled: "with-document",
	unknownPath: "status-404",
	list: { ...ragflow021.list, condition: condition023 },
	datasets: { ...ragflow021.datasets, takenName: "numbered" },
	bulkUpdate: "all-unless-named",
};

const condition024: ListRules["condition"] = {
	...condition023,
	contains: "wanted-in-stored",
	dates: true,
	asciiOperators: true,
	join: "forgetful",
};

/**
 * v0.24.0: metadata is in a search engine, updates merge, and lists are split. The last with PUT, and the last where a
 * removal without ids removes all.
 */
const ragflow024: Release = {
	...ragflow023,
	body: "json-header",
	databaseError: "printed",
	metadataIn: "engine",
	unfitValues: "refused-and-lost",
	splitsLists: true,
	merges: true,
	updateAnswer: "document-without-metadata",
	list: { ...ragflow023.list, condition: condition024 },
	bulkUpdate: "broken",
};

/**
 * v0.25.0, with PATCH alone: a removal without ids succeeds and removes nothing. From v0.25.2 on PUT is an alias.
 *
 * Its update was to merge, but asks for the present metadata with arguments that `get` does not have; that error leads to
 * an insert, which replaces them. v0.25.1 and v0.25.2 insert after any error, and a refused insert changes nothing. From
 * v0.25.3 on the present metadata is removed before that insert.
 */
const ragflow025: Release = {
	...ragflow024,
	updateVerbs: ["PATCH"],
	refusedKey: "mixed",
	values: "flat",
	unfitValues: "refused",
	itemEquality: "printed",
	merges: false,
	emptyRemoval: "removes-nothing",
	list: {
		...ragflow024.list,
		message: "success",
		checksPageFirst: true,
		zeroPage: "everything",
		metadataFilters: true,
		unknownRun: "refused",
	},
	datasets: { ...ragflow024.datasets, missingCode: 102, emptyRemoval: "removes-nothing" },
	bulkUpdate: "named",
	uploadMissingDatasetCode: 102,
};

const condition026: ListRules["condition"] = {
	...condition024,
	listsWithoutCase: true,
	join: "plain",
	withoutConditions: "nothing",
};

/** v0.26 (as of v0.26.3), and v0.25.3 to v0.25.6 in what an update does: PATCH and its alias PUT, HTTP status 401 for keys, and removals that must name documents. */
const ragflow026: Release = {
	...ragflow025,
	updateVerbs: ["PATCH", "PUT"],
	refusedKey: "status-401",
	unfitValues: "refused-and-lost",
	sameMethod: "keeps-chunks",
	emptyRemoval: "refused",
	bulkUpdate: "by-value",
	servesWeb: true,
	list: { ...ragflow025.list, maxPageSize: 100, runs: "any-letters", ids: "any-number", condition: condition026 },
	datasets: { ...ragflow025.datasets, hasShow: true },
	missingDownload: "names-document",
	downloadType: "by-ending",
	reportsPartialUpload: true,
};

/** v0.27: as v0.26, with messages in small letters. */
const ragflow027: Release = {
	...ragflow026,
	list: {
		...ragflow026.list,
		badPage: "default",
		zeroPage: "literal",
		orderBy: "three",
		ids: "at-most-100",
		condition: { ...condition026, numbers: "both" },
	},
	datasets: { ...ragflow026.datasets, ids: "uuid" },
	missingDownload: "not-found",
	lowerCaseMessages: "documents",
};

const releases = {
	"ragflow-0.18": ragflow018,
	"ragflow-0.21": ragflow021,
	"ragflow-0.23": ragflow023,
	"ragflow-0.24": ragflow024,
	"ragflow-0.25": ragflow025,
	"ragflow-0.26": ragflow026,
	"ragflow-0.27": ragflow027,
	"ragflow-1.0": release10(ragflow027),
} satisfies Readonly<Record<string, Release>>;

/** How the sandbox can answer: as documented, or as a release of RAGFlow does. */
export type Flavour = "documented" | keyof typeof releases;

export const flavours: readonly string[] = ["documented", ...Object.keys(releases)];

export function isFlavour(name: string): name is Flavour {
	return flavours.includes(name);
}

/** The facts of a release; `undefined` for the documented flavour. */
export function releaseOf(flavour: Flavour): Release | undefined {
	return flavour === "documented" ? undefined : releases[flavour];
}
