import type { Raw } from "./raw.ts";

const missing = "100 null <NotFound '404: Not Found'>";
const wrongVerb = "100 null <MethodNotAllowed '405: Method Not Allowed'>";
const foreign = "102 You don't own the dataset nope. ";
const unsupported = (name: string): string => `500 ${name}: This type of file has not been supported yet!`;

/** `upload` of api/apps/sdk/doc.py (v0.21.1), `upload_document` of api/apps/restful_apis/document_api.py (v0.27.0). */
export const uploads: readonly Raw[] = [
	["POST . files A.TXT", "0 [A.TXT]"],
	["POST . files 0.txt", "0 [0(1).txt]"],
	["POST . files 0.TXT", "0 [0(1).TXT]"],
	["POST . files 0(1).txt 0.txt 0.txt", "0 [0(1).txt 0(2).txt 0(3).txt]", "0 [0(1).txt 0(2).txt 0(3).txt]"],
	["POST . files a", unsupported("a")],
	["POST . files a.wmf", unsupported("a.wmf")],
	["POST . files a.txt.", unsupported("a.txt.")],
	["POST . files b.exe c.exe", `${unsupported("b.exe")}\nc.exe: This type of file has not been supported yet!`],
	["POST .?type=LOCAL files a.txt", "0 [a.txt]"],
	["POST .?type= files a.txt", "0 [a.txt]"],
	["POST .?type=zzz files a.txt", "0 [a.txt]", '101 `type` must be one of "local", "web", or "empty".'],
	["POST .?return_raw_files=true files a.txt", "0 [a.txt]"],
	["POST /datasets/nope/documents", "101 No file part!", "102 Can't find the dataset with ID nope!"],
	["POST /datasets/nope/documents?type=zzz", "101 No file part!", "102 Can't find the dataset with ID nope!"],
];

const extra = (name: string, value: string): string =>
	`101 Field: <${name}> - Message: <Extra inputs are not permitted> - Value: <${value}>`;
const either = "102 should either provide doc ids or set delete_all(true), dataset: $D. ";

/** `delete` there, `delete_documents` and `DeleteDocumentReq` (api/utils/validation_utils.py) here. */
export const removals: readonly Raw[] = [
	['DELETE . {"ids":["$0"]}', "0", '0 {"deleted":1}'],
	['DELETE . {"ids":["$0","$1"]}', "0", '0 {"deleted":2}'],
	['DELETE . {"ids":null}', "0", either],
	["DELETE . {}", "0", either],
	['DELETE . {"delete_all":false}', "0", either],
	[
		'DELETE . {"ids":["$0"],"delete_all":true}',
		"0",
		"102 should not provide both doc ids and delete_all(true), dataset: $D. ",
	],
	[
		'DELETE . {"ids":["$0","$0"]}',
		'0 {"success_count":1,"errors":["Duplicate document ids: $0"]}',
		"101 Field: <ids> - Message: <Duplicate ids: '$0'> - Value: <['$0', '$0']>",
	],
	[
		'DELETE . {"ids":[5]}',
		"102 Documents not found: [5]",
		"101 Field: <ids.0> - Message: <Input should be a valid string> - Value: <5>",
	],
	['DELETE . {"document_ids":["$0"]}', "0", extra("document_ids", "['$0']")],
	['DELETE ./$0 {"ids":["$0"]}', wrongVerb],
];

/** `update_doc` there, `update_document` here. `V` is the verb of the release. */
export const updates: readonly Raw[] = [
	['V ./$0 {"meta_fields":{"a":"b"}}', "0 (0.txt)"],
	['V ./$0 {"meta_fields":{}}', "0 (0.txt)"],
	["V ./$0 {}", "0 (0.txt)"],
	['V ./$0 {"metafields":{"a":"b"}}', "0 (0.txt)"],
	["PATCH /datasets/$D {}", wrongVerb],
	["POST ./$0 {}", wrongVerb],
	["PUT . {}", wrongVerb],
];

const none = '0 {"updated":0,"matched_docs":0}';
const selected = (rest: string): string => `{"selector":{"document_ids":["$0"]},${rest}}`;

/** `metadata_batch_update` and `update_metadata` of v0.27.0; v0.21.1 has neither. `W` is either of their paths. */
const batch: readonly (readonly [body: string, v27: string])[] = [
	[selected('"updates":[{"key":"a","value":"b"}]'), '0 {"updated":1,"matched_docs":1}'],
	[selected('"updates":[{"key":"author","value":"Ann"}]'), '0 {"updated":0,"matched_docs":1}'],
	[selected('"updates":[{"key":"tags","value":"a"}]'), '0 {"updated":0,"matched_docs":1}'],
	[selected('"updates":[{"key":"tags","value":"c"}]'), '0 {"updated":1,"matched_docs":1}'],
	[selected('"updates":[{"key":"author","value":"Eve","match":"Bob"}]'), '0 {"updated":0,"matched_docs":1}'],
	[selected('"updates":[{"key":"author","value":"Eve","match":"Ann"}]'), '0 {"updated":1,"matched_docs":1}'],
	[selected('"updates":[{"key":"absent","value":"Eve","match":"Ann"}]'), '0 {"updated":0,"matched_docs":1}'],
	[selected('"deletes":[{"key":"author"}]'), '0 {"updated":1,"matched_docs":1}'],
	[selected('"deletes":[{"key":"author","value":"Bob"}]'), '0 {"updated":0,"matched_docs":1}'],
	[selected('"deletes":[{"key":"tags","value":"b"}]'), '0 {"updated":1,"matched_docs":1}'],
	[selected('"deletes":[{"key":"absent"}]'), '0 {"updated":0,"matched_docs":1}'],
	['{"selector":{"document_ids":["$0","$2"]},"updates":[{"key":"a","value":"b"}]}', '0 {"updated":2,"matched_docs":2}'],
	['{"selector":{"document_ids":[]},"updates":[{"key":"a","value":"b"}]}', none],
	['{"selector":{},"updates":[{"key":"a","value":"b"}]}', none],
	["{}", none],
	['{"selector":{"document_ids":["nope"]}}', "102 These documents do not belong to dataset $D: nope"],
	['{"selector":5}', "102 selector must be an object."],
	['{"selector":{"document_ids":"x"}}', "102 document_ids must be a list."],
	['{"selector":{"metadata_condition":5}}', "102 metadata_condition must be an object."],
	['{"updates":5}', "102 updates and deletes must be lists."],
	['{"updates":[{}]}', "102 Each update requires key and value."],
	['{"deletes":[{}]}', "102 Each delete requires key."],
	['{"selector":null,"updates":null}', none],
];

export const batches: readonly Raw[] = batch.flatMap(([body, v27]): Raw[] => [
	[`POST /datasets/$D/metadata/update ${body}`, missing, v27],
	[`PATCH ./metadatas ${body}`, wrongVerb, v27],
]);

const elsewhere = (path: string): string => `HTTP 404 404 null Not Found: /api/v1${path}`;

/** Other paths: a wrong verb and an unknown path, and what v0.27.0 alone knows. */
export const paths: readonly Raw[] = [
	["GET /documents", missing, elsewhere("/documents")],
	["GET /nope", missing, elsewhere("/nope")],
	["POST /datasets/$D {}", wrongVerb],
	[
		"GET /datasets/$D/metadata/summary",
		missing,
		'0 {"summary":{"author":{"type":"string","values":[["Ann",1],["Bob",1]]},"date":{"type":"string","values":[["2025-02-28",1]]},"pages":{"type":"number","values":[["7",1],["12",1]]},"tags":{"type":"list","values":[["a",1],["b",1]]}}}',
	],
	[
		"GET /datasets/$D/metadata/summary?doc_ids=$1",
		missing,
		'0 {"summary":{"author":{"type":"string","values":[["Bob",1]]},"pages":{"type":"number","values":[["12",1]]}}}',
	],
	["GET /datasets/$D/metadata/summary?doc_ids=$2", missing, '0 {"summary":{}}'],
	["GET /datasets/nope/metadata/summary", missing, foreign],
	[
		`GET /datasets/$D/metadata/summary?doc_ids=${Array.from({ length: 101 }, () => "a").join(",")}`,
		missing,
		"101 doc_ids must contain at most 100 IDs",
	],
	[
		"GET /datasets/metadata/flattened?dataset_ids=$D",
		missing,
		'0 {"author":{"Ann":["$0"],"Bob":["$1"]},"date":{"2025-02-28":["$0"]},"pages":{"7":["$0"],"12":["$1"]},"tags":{"a":["$0"],"b":["$0"]}}',
	],
	["GET /datasets/metadata/flattened", missing, "102 Lack of dataset_ids in query parameters"],
	["GET /datasets/metadata/flattened?dataset_ids=nope", missing, "102 No authorization for dataset 'nope'"],
	["GET /datasets/$D/metadata/config", missing, '0 {"built_in_metadata":[],"metadata":[]}'],
	["GET /datasets/$D/metadata/update", missing, wrongVerb],
];

const counts = (total: number, suffix: string, rest: string): string =>
	`0 {"filter":{"metadata":{${rest}},"run_status":{${total === 0 ? "" : `"0":${total}`}},"suffix":{${suffix}}},"total":${total}}`;

/** `get_filter_by_kb_id` in api/db/services/document_service.py (v0.27.0). v0.21.1 lists. */
export const counted: readonly Raw[] = [
	[
		"GET .?type=filter",
		"0 3[2.txt 1.md 0.txt]",
		counts(
			3,
			'"md":1,"txt":2',
			'"author":{"Ann":1,"Bob":1},"date":{"2025-02-28":1},"empty_metadata":{"true":1},"pages":{"7":1,"12":1},"tags":{"a":1,"b":1}',
		),
	],
	[
		"GET .?type=filter&keywords=md",
		"0 1[1.md]",
		counts(1, '"md":1', '"author":{"Bob":1},"empty_metadata":{"true":0},"pages":{"12":1}'),
	],
	["GET .?type=filter&suffix=zzz", "0 0[]", counts(0, "", '"empty_metadata":{"true":0}')],
	["GET .?type=filter&types=zzz", "0 3[2.txt 1.md 0.txt]", "102 Invalid filter conditions: zzz type"],
	[
		"GET .?type=filter&page=x",
		`100 null ValueError("invalid literal for int() with base 10: 'x'")`,
		counts(
			3,
			'"md":1,"txt":2',
			'"author":{"Ann":1,"Bob":1},"date":{"2025-02-28":1},"empty_metadata":{"true":1},"pages":{"7":1,"12":1},"tags":{"a":1,"b":1}',
		),
	],
];
