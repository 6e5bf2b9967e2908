import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import * as by from "./support.ts";
import { idOf } from "../support/service.ts";
import { range } from "../support/values.ts";

const metadata =
	'{"author":"Ana","publish_date":"2024-02-29","category":"Ñandú – 日本","url":"https://papers.example/1"}';
const body = `{"meta_fields":${metadata}}`;

async function withDocument(options = {}): Promise<{ sandbox: Sandbox; dataset: string; document: string }> {
	const sandbox = await by.start(options);
	const dataset = await by.createDataset(sandbox);
	const [document = ""] = await by.upload(sandbox, dataset, "a.txt");
	return { sandbox, dataset, document };
}

describe("the documented update", () => {
	test.each([
		["the part form", by.partsHeader, by.multipart({ head: by.updatePart, body })],
		["the plain form", by.plainHeader, body],
		["the plain form with a charset", { "content-type": "multipart/form-data; charset=utf-8" }, body],
		["application/json", by.jsonHeader, body],
	])("%s: the metadata are stored, and answered in the documented words", async (_, headers, sent) => {
		const { sandbox, dataset, document } = await withDocument();
		const answer = await by.send(sandbox, "PUT", by.documentsPath(dataset, document), { headers, body: sent });
		expect(answer.status).toBe(200);
		expect(answer.text).toBe(`{"code":0,"message":"Success","data":{"document_id":"${document}"}}`);
		const listed = await by.list(sandbox, dataset, { id: document });
		expect(listed.text).toContain(`"meta_fields":${metadata}`);
	});

	test("keys are listed in the order in which they were sent, even numbers and __proto__", async () => {
		const { sandbox, dataset, document } = await withDocument();
		const odd =
			'{"z":1,"10":2,"9":{"b":[1, "}\\"",{}],"a":null},"__proto__":{"x":1},"long":12345678901234567890,"":"empty"}';
		await by.put(sandbox, dataset, document, odd);
		const listed = await by.list(sandbox, dataset);
		expect(listed.text).toContain(`"meta_fields":${odd}}`);
	});

	test("of a key that is sent twice the last value is stored, as JSON parsers do", async () => {
		const { sandbox, dataset, document } = await withDocument();
		await by.put(sandbox, dataset, document, '{"a":1,"b":2,"a":3}');
		expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{"a":3,"b":2}}');
	});

	test("an update replaces all metadata, so keys that are not sent again are removed", async () => {
		const { sandbox, dataset, document } = await withDocument();
		await by.put(sandbox, dataset, document, '{"author":"Ana","category":"a"}');
		await by.put(sandbox, dataset, document, '{ "category" : "b" }');
		expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{"category":"b"}}');
		await by.put(sandbox, dataset, document, "{}");
		expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{}}');
	});

	test("with update=merge keys that are not sent stay, and nested objects are replaced", async () => {
		const { sandbox, dataset, document } = await withDocument({ update: "merge" });
		await by.put(sandbox, dataset, document, '{"author":"Ana","nested":{"x":1},"2":true}');
		await by.put(sandbox, dataset, document, '{"nested":{"y":2},"new":[1]}');
		const listed = await by.list(sandbox, dataset);
		expect(listed.text).toContain('"meta_fields":{"author":"Ana","nested":{"y":2},"2":true,"new":[1]}}');
		expect((await by.put(sandbox, dataset, "0".repeat(32), "{}")).status).toBe(404);
	});

	test("concurrent updates are each answered with their own document", async () => {
		const sandbox = await by.start({ documents: 200 });
		const dataset = sandbox.datasetId ?? "";
		const ids = range(200, 1).map(idOf);
		const answers = await Promise.all(ids.map((id) => by.put(sandbox, dataset, id, `{"own":"${id}"}`)));
		expect(answers.map((answer) => by.at(answer.data, "document_id"))).toEqual(ids);
		const listed = await by.list(sandbox, dataset, { page_size: "200" });
		expect(ids.filter((id) => !listed.text.includes(`"meta_fields":{"own":"${id}"}`))).toEqual([]);
	});
});

const json = "Content-Type: application/json";
const empty = 'name=""; filename=""';
const large = "x".repeat(1024 * 1024);

/** The update in one part, with that disposition and type. */
const partOf = (names: string, ...type: readonly string[]): Buffer =>
	by.multipart({ head: [`Content-Disposition: form-data; ${names}`, ...type], body });
const whole = partOf(empty, json);

describe("an update that is not as documented is refused, and changes nothing", () => {
	test.each<[string, Record<string, string>, string | Buffer, number, string]>([
		["no JSON", by.jsonHeader, "{", 400, "the body is not JSON"],
		["an empty body", by.plainHeader, "", 400, "the body is empty"],
		["a list", by.jsonHeader, "[]", 400, "the body is not a JSON object"],
		["no meta_fields", by.jsonHeader, '{"meta_field":{}}', 400, "meta_fields is missing"],
		["only inherited ones", by.jsonHeader, '{"__proto__":{"meta_fields":{}}}', 400, "meta_fields is missing"],
		["meta_fields that is a list", by.plainHeader, '{"meta_fields":[]}', 400, "meta_fields is not an object"],
		["meta_fields that is null", by.jsonHeader, '{"meta_fields":null}', 400, "meta_fields is not an object"],
		["Latin-1", by.jsonHeader, Buffer.from('{"meta_fields":{"a":"é"}}', "latin1"), 400, "the body is not UTF-8"],
		["another type", { "content-type": "text/plain" }, body, 415, "multipart/form-data or application/json"],
		["no type", {}, body, 415, "multipart/form-data or application/json"],
		["a part with a name", by.partsHeader, partOf('name="x"; filename=""', json), 400, "empty name"],
		["a part without name", by.partsHeader, partOf('filename=""', json), 400, "empty name"],
		["a part without filename", by.partsHeader, partOf('name=""', json), 400, "empty file name"],
		["a part with a filename", by.partsHeader, partOf('name=""; filename="."', json), 400, "empty file name"],
		["a part of no type", by.partsHeader, partOf(empty), 400, "application/json"],
		[
			"two parts",
			by.partsHeader,
			by.multipart({ head: by.updatePart, body }, { head: by.updatePart, body }),
			400,
			"more than one part",
		],
		["no part", by.partsHeader, by.multipart(), 400, "no part"],
		["a cut body", by.partsHeader, whole.subarray(0, -12), 400, "cut short"],
		["a cut header", by.partsHeader, whole.subarray(0, 50), 400, "cut short"],
		["JSON under a boundary", by.partsHeader, body, 400, "cut short"],
		["an empty body under a boundary", by.partsHeader, "", 400, "cut short"],
		["an empty boundary", { "content-type": "multipart/form-data; boundary=" }, body, 400, "cut short"],
		["a boundary inside quotes", { "content-type": 'multipart/form-data; x="; boundary=y"' }, body, 400, "no boundary"],
		["over a megabyte", by.jsonHeader, `{"meta_fields":{"a":"${large}"}}`, 413, "over 1048576 bytes"],
		["a large part", by.partsHeader, by.multipart({ head: by.updatePart, body: large }), 413, "over 1048576 bytes"],
	])("%s", async (_, headers, sent, status, message) => {
		const { sandbox, dataset, document } = await withDocument();
		await by.put(sandbox, dataset, document, '{"kept":true}');
		const answer = await by.send(sandbox, "PUT", by.documentsPath(dataset, document), { headers, body: sent });
		expect(answer).toMatchObject({ status, code: status });
		expect(answer.message).toContain(message);
		expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{"kept":true}}');
	});

	test("an unknown dataset and an unknown document have different messages", async () => {
		const { sandbox, dataset, document } = await withDocument();
		const other = await by.createDataset(sandbox, "other");
		expect((await by.put(sandbox, "nowhere", document, "{}")).message).toBe("there is no dataset nowhere");
		expect((await by.put(sandbox, dataset, "nobody", "{}")).message).toBe(`dataset ${dataset} has no document nobody`);
		// A document can be addressed only through its own dataset.
		expect((await by.put(sandbox, other, document, "{}")).status).toBe(404);
	});
});
