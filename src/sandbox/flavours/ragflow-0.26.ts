import type { Release } from "./release.ts";

/** v0.26: PATCH, HTTP statuses for keys and paths, checked values, and removals that must name what they remove. */
export const ragflow026: Release = {
	updateVerb: "PATCH",
	body: "json-header",
	refusedKey: "status-401",
	unknownPath: "status-404",
	values: "flat",
	splitsLists: true,
	updateAnswer: "document-without-metadata",
	emptyRemoval: "refused",
	lowerCaseFalse: true,
	largestPage: 100,
	metadataCondition: true,
	bulkUpdate: "named",
	totalDatasets: true,
	unknownParameter: "refused",
	absentDatasetCode: 108,
	argumentCode: 101,
	takenName: "numbered",
	uploadNowhereCode: 102,
	partialUploadTold: true,
};
