import type { Release } from "./release.ts";

/** v0.27: as v0.26, in small letters. */
export const ragflow027: Release = {
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
	smallWords: true,
	partialUploadTold: true,
};
