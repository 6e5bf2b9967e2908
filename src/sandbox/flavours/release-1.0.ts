import type { Release } from "./release.ts";

/**
 * v1.0, rewritten in Go: read in `internal/` of the public repository as of 2026-08-22, a month before its first release
 * candidate, and never run. Paths are those of `internal/`.
 */
export function release10(before: Release): Release {
	return {
		...before,
		// router/router.go:403 has PATCH alone.
		updateVerbs: ["PATCH"],
		// `UpdateDatasetDocument` in handler/document.go:1710-1747 reads the body before it looks up anything.
		body: "or-refused",
		reads: "as-go",
		// handler/auth.go:119-140, and `GetUserByAPIToken` in service/user.go:942.
		refusedKey: "status-401-by-cause",
		// `HandleNoRoute` in handler/error.go:42: gin has no route for a verb that is not registered.
		unknownPath: "status-404-and-verbs",
		// cmd/ragflow_server.go:915 (`RemoveExtraSlash`); `RedirectTrailingSlash` is gin's default.
		slashes: "last-redirected",
		// router/router.go:146
		headers: { "x-api-source": "go" },
		// `SuccessNoMessage` in common/http.go:60
		noMessage: null,
		// `mapDocumentListItem` and `mapDocKeysWithRunStatus` in handler/document.go:1135, 1064; service/dataset/utils.go:31
		parserMember: "parser_id",
		// `validateMetaFields` in service/document/document_dataset_update.go:348
		values: "flat-without-booleans",
		// `InsertMetadata` in engine/elasticsearch/metadata.go:162 logs that items of its bulk request were refused, and no more.
		unfitValues: "accepted-and-lost",
		// service/document/document_dataset_update.go:129 passes on the id of the path.
		metadataId: "as-sent",
		// `dedupeDocumentMetadataList` in service/document/document_metadata.go:914 compares type and value.
		itemEquality: "value",
		// service/document/document_dataset_update.go:232-237
		updateAnswer: "document-read-back",
		// `DeleteDocuments` in handler/document.go:447
		removalMessage: "success",
		// `validateDocsInDataset` in service/document/document_parse.go:309 leaves the comparison to the database.
		removedIds: "any-letters",
		list: {
			...before.list,
			// `ListDocuments` in handler/document.go:518-618
			defaultPageSize: 10,
			overMaxPageSize: "default",
			orderBy: "three-first",
			refusalHasList: true,
			ids: "beside-filters",
			// `applyDocumentMetadataFilter` in handler/document.go:667-686
			condition: "checked",
			// dao/document.go:227
			keywords: "pattern",
		},
		datasets: {
			...before.datasets,
			// `ListDatasets`, `CreateDataset`, `UpdateDataset`, `DeleteDatasets` in handler/dataset.go
			checks: "first-fault",
			// `dedupeDatasetName` in service/dataset/crud.go:164
			takenName: "appended",
		},
		// `DownloadDocument` in handler/document.go:1084
		downloadType: "octet-stream",
		// service/document/document_metadata.go:580-680
		bulkUpdate: "none-unless-named",
		servesWeb: false,
		lowerCaseMessages: "all",
		// `Part.FileName` of mime/multipart; `uniqueUploadName` in service/document/document_upload.go:393
		fileNames: "base-exact",
	};
}
