import type { Release } from "./release.ts";

/** v0.18: the oldest that is still met; checks the least. */
export const ragflow018: Release = {
	updateVerbs: ["PUT"],
	body: "any-header",
	refusedKey: "status-200",
	databaseError: "number",
	unknownPath: "status-200",
	values: "any",
	noNumber: "stored",
	splitsLists: false,
	sameItems: "value",
	updateAnswer: "nothing",
	emptyRemoval: "removes-all",
	lowerCaseFalse: false,
	largestPage: undefined,
	metadataCondition: false,
	bulkUpdate: "absent",
	totalDatasets: false,
	unknownParameter: "ignored",
	absentDatasetCode: 102,
	argumentCode: 102,
	takenName: "refused-102",
	uploadNowhereCode: 100,
	listMessage: undefined,
	smallWords: false,
	partialUploadTold: false,
};
