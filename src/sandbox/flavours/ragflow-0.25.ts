import type { Release } from "./release.ts";

/** v0.25.0, with PATCH alone: a removal that names nothing is a success that removes nothing. From v0.25.2 on PUT is an alias. */
export const ragflow025: Release = {
	updateVerbs: ["PATCH"],
	body: "json-header",
	refusedKey: "mixed",
	databaseError: "printed",
	unknownPath: "status-404",
	values: "flat",
	noNumber: "refused",
	splitsLists: true,
	sameItems: "print",
	updateAnswer: "document-without-metadata",
	emptyRemoval: "removes-nothing",
	lowerCaseFalse: true,
	largestPage: undefined,
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
	partialUploadTold: false,
};
