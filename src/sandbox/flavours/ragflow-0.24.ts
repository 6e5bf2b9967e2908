import type { Release } from "./release.ts";

/** v0.24: the last with PUT, and the last where a removal without ids removes all. It splits lists. */
export const ragflow024: Release = {
	updateVerbs: ["PUT"],
	body: "json-header",
	refusedKey: "status-200",
	databaseError: "printed",
	unknownPath: "status-404",
	values: "any",
	noNumber: "refused-and-lost",
	splitsLists: true,
	sameItems: "value",
	updateAnswer: "document-without-metadata",
	emptyRemoval: "removes-all",
	lowerCaseFalse: true,
	largestPage: undefined,
	metadataCondition: true,
	bulkUpdate: "broken",
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
