import type { Release } from "./release.ts";

/** v0.21: an update answers with the document, and arguments are checked. */
export const ragflow021: Release = {
	updateVerbs: ["PUT"],
	body: "any-header",
	refusedKey: "status-200",
	databaseError: "number",
	unknownPath: "status-200",
	values: "any",
	noNumber: "stored",
	splitsLists: false,
	sameItems: "value",
	updateAnswer: "document",
	emptyRemoval: "removes-all",
	lowerCaseFalse: false,
	largestPage: undefined,
	metadataCondition: false,
	bulkUpdate: "absent",
	totalDatasets: false,
	unknownParameter: "refused",
	absentDatasetCode: 108,
	argumentCode: 101,
	takenName: "refused-103",
	uploadNowhereCode: 100,
	listMessage: undefined,
	smallWords: false,
	partialUploadTold: false,
};
