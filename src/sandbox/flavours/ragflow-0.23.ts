import type { Release } from "./release.ts";

/** v0.23: the one that answers the part form of an update with success, and changes nothing. */
export const ragflow023: Release = {
	updateVerbs: ["PUT"],
	body: "or-form",
	refusedKey: "status-200",
	databaseError: "number",
	unknownPath: "status-404",
	values: "any",
	noNumber: "stored",
	splitsLists: false,
	sameItems: "value",
	updateAnswer: "document",
	emptyRemoval: "removes-all",
	lowerCaseFalse: true,
	largestPage: undefined,
	metadataCondition: true,
	bulkUpdate: "all-unless-named",
	totalDatasets: true,
	unknownParameter: "refused",
	absentDatasetCode: 108,
	argumentCode: 101,
	takenName: "numbered",
	uploadNowhereCode: 100,
	listMessage: undefined,
	smallWords: false,
	partialUploadTold: false,
};
