import type { Release } from "./release.ts";

/** v0.26 (as of v0.26.3): PATCH and its alias PUT, HTTP status 401 for keys, and removals that must name what they remove. */
export const ragflow026: Release = {
	updateVerbs: ["PATCH", "PUT"],
	body: "json-header",
	refusedKey: "status-401",
	databaseError: "printed",
	unknownPath: "status-404",
	values: "flat",
	noNumber: "refused-and-lost",
	splitsLists: true,
	sameItems: "print",
	updateAnswer: "document-without-metadata",
	emptyRemoval: "refused",
	lowerCaseFalse: true,
	largestPage: 100,
	metadataCondition: true,
	bulkUpdate: "named",
	totalDatasets: true,
	unknownParameter: "refused",
	absentDatasetCode: 102,
	argumentCode: 101,
	takenName: "numbered",
	uploadNowhereCode: 102,
	listMessage: "success",
	smallWords: false,
	partialUploadTold: true,
};
