import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decoded, type ParsedEnvelope, type RawAnswer } from "../../src/rest/answer.ts";
import { classifyAnswer } from "../../src/rest/classify.ts";
import { Decoder } from "../../src/rest/decode.ts";
import { RestError } from "../../src/rest/errors.ts";
import { documented } from "../../src/rest/flavours.ts";
import type { Call } from "../../src/rest/attempt.ts";
import type { Echo } from "../../src/rest/types.ts";
import { Updates } from "../../src/rest/updates.ts";
import { DocumentPaths } from "../../src/rest/url.ts";
import { ragflow1, ragflowPut } from "../support/flavours.ts";

const context = { host: "host:1", redact: (text: string) => text };
const decoder = new Decoder(context);
const fields = new Map([["author", "x"]]);

type Options = Partial<ConstructorParameters<typeof Updates>[0]>;

function updates(send: (call: Call<Echo>) => Echo, options: Options = {}): Updates {
	const success = (answer: RawAnswer): ParsedEnvelope => {
		const read = classifyAnswer(decoded(answer), { flavour: ragflowPut, context, now: 0 });
		if (read instanceof RestError) throw read;
		return read;
	};
	return new Updates({
		dialect: { flavour: ragflowPut, form: "json" },
		paths: new DocumentPaths("/api/v1"),
		headers: ["accept", "application/json"],
		boundary: () => "BOUNDARY",
		limit: 1000,
		// oxlint-disable-next-line require-await -- what `send` throws is a rejection, as of a transport
		transport: { send: async <Result>(call: Call<Result>) => send(call as Call<unknown> as Call<Echo>) as Result },
		success,
		echo: (envelope, documentId) => decoder.echo(envelope, documentId),
		...options,
	});
}

/** The result of reading an answer, as text that can be compared. */
async function resultOf(updating: () => Promise<Echo>): Promise<string> {
	try {
		return await updating();
	} catch (error) {
		return error instanceof RestError ? `${error.kind} ${error.code} ${error.message}` : String(error);
	}
}

const TEXTS = [
	'{"code":0}',
	'{"code":0,"data":true}',
	'{"code":0,"data":false}',
	'{"code":0,"data":null}',
	'{"code":0,"data":[]}',
	'{"code":0,"data":["d1"]}',
	'{"code":0,"data":{}}',
	'{"code":0,"data":{"id":"d1"}}',
	'{"code":0,"data":{"id":"D1"}}',
	'{"code":0,"data":{"document_id":"d2"}}',
	'{"code":0,"code":102}',
	'{"code":0,"c\\u006fde":102}',
	'{"code":0,"data":NaN}',
	'{"code":102,"message":"no"}',
	'{"code":0',
	"<html></html>",
	"",
	'\uFEFF{"code":0}',
	`{"code":0,"message":"${"x".repeat(300)}"}`,
];

const answers: fc.Arbitrary<RawAnswer> = fc.record({
	status: fc.constantFrom(200, 200, 200, 201, 302, 401, 404, 429, 500),
	headers: fc.constant([]),
	bytes: fc.oneof(
		fc.constantFrom(...TEXTS).map((text) => Buffer.from(text)),
		fc.constant(Buffer.from([0x7b, 0xff, 0x7d])),
	),
});

describe("an answer that was read before", () => {
	test("means what it means to a client that never saw it, whatever came between", async () => {
		const row = fc.record({ id: fc.constantFrom("d1", "d2", "D1"), answer: answers });
		await fc.assert(
			fc.asyncProperty(fc.array(row, { minLength: 2, maxLength: 12 }), async (rows) => {
				let current: RawAnswer | undefined;
				const experienced = updates((call) => call.read(current ?? { status: 0, headers: [], bytes: Buffer.alloc(0) }));
				for (const { id, answer } of rows) {
					current = answer;
					const fresh = updates((call) => call.read(answer));
					const result = await resultOf(() => experienced.send("ds", id, fields, undefined));
					expect(result).toBe(await resultOf(() => fresh.send("ds", id, fields, undefined)));
				}
			}),
			{ numRuns: 500 },
		);
	});

	test("is not parsed again where it names no document", async () => {
		let parsed = 0;
		const bytes = Buffer.from('{"code":0}');
		const counting = updates((call) => call.read({ status: 200, headers: [], bytes }), {
			echo: (envelope, documentId) => {
				parsed += 1;
				return decoder.echo(envelope, documentId);
			},
		});
		for (const id of ["a", "b", "c"]) expect(await counting.send("ds", id, fields, undefined)).toBe("nothing");
		expect(parsed).toBe(1);
		// undici reads the next answer into other memory, but a test may change this one.
		bytes.write("9", 8);
		expect(await resultOf(() => counting.send("ds", "d", fields, undefined))).toContain("CODE_9");
	});
});

describe("the headers of an update", () => {
	test("name the boundary that its own body has", async () => {
		const boundaries = ["ONE", "TWO", "TWO", "ONE"];
		const sent: string[] = [];
		const parts = updates(
			(call) => {
				sent.push(`${call.headers.join(" ")} ${typeof call.body === "string" ? call.body.slice(0, 5) : ""}`);
				return "nothing";
			},
			{ dialect: { flavour: documented, form: "multipart" }, boundary: () => boundaries.shift() ?? "" },
		);
		for (let row = 0; row < 4; row++) await parts.send("ds", "d1", fields, undefined);
		const line = (name: string): string =>
			`accept application/json content-type multipart/form-data; boundary=${name} --${name}`;
		expect(sent).toEqual(["ONE", "TWO", "TWO", "ONE"].map(line));
	});
});

describe("a success that shows no metadata for its document", () => {
	const answer = (data: unknown): RawAnswer => ({
		status: 200,
		headers: [],
		bytes: Buffer.from(JSON.stringify({ code: 0, data })),
	});
	const shown = answer({ id: "d1", meta_fields: { author: "x" } });
	const bare = answer({ id: "d1" });
	const results = async (answers: readonly RawAnswer[], sent = fields): Promise<string[]> => {
		const left = [...answers];
		const updating = updates((call) => call.read(left.shift() ?? bare), {
			dialect: { flavour: ragflow1, form: "json" },
		});
		const all: string[] = [];
		for (const _ of answers) {
			const result = await resultOf(() => updating.send("ds", "d1", sent, undefined));
			all.push(result.split(" ").slice(0, 2).join(" "));
		}
		return all;
	};

	test("is a loss where v1.0 has shown it before: its search engine refused the values", async () => {
		expect(await results([shown, bare, shown])).toEqual([
			"id_and_metadata",
			"rejected METADATA_REFUSED",
			"id_and_metadata",
		]);
	});

	test("says nothing where no answer shows any, or none was sent", async () => {
		expect(await results([bare, bare])).toEqual(["id", "id"]);
		expect(await results([shown, bare], new Map())).toEqual(["id_and_metadata", "id_and_metadata"]);
	});
});
